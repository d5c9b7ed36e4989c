-- Comments added, changed, removed and with other blanks, on tables, views and columns
CREATE TABLE t (a integer, b integer, c integer, d integer); CREATE VIEW v AS SELECT a FROM t; COMMENT ON TABLE t IS 'one'; COMMENT ON COLUMN t.a IS 'a'; COMMENT ON COLUMN t.b IS 'b'; COMMENT ON COLUMN t.d IS 'same';
