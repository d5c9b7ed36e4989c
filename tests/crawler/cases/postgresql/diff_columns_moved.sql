-- Columns dropped and added again at the end, and one added in place of another of the same type
CREATE TABLE t (a integer, b text, c date); CREATE VIEW v AS SELECT a, b FROM t; CREATE TABLE u (a integer, old_x text, c date, d text);
