-- View replaced with one more column and a changed body
CREATE OR REPLACE VIEW v AS SELECT a, b, c FROM b WHERE a > 0;
