-- View replaced with one more column and a changed body
CREATE TABLE b (a integer, b numeric(8,2), c text); CREATE VIEW v AS SELECT a, b FROM b;
