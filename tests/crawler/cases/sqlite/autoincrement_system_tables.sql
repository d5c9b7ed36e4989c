-- AUTOINCREMENT, its system table, and user tables named nearly like system tables
CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT); CREATE TABLE sqliteXdata (x INTEGER); CREATE INDEX a_v ON a (v); INSERT INTO a (v) VALUES ('x'); ANALYZE;
