-- A view breaks and another is mended; neither is dropped
CREATE TABLE t (a int, b int); CREATE TABLE o (x int); CREATE VIEW breaks AS SELECT a, b FROM t; CREATE VIEW mends AS SELECT x FROM o; CREATE TABLE stays (a int); DROP TABLE o;
