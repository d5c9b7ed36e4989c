-- The twelve steps of SQLite: a table made anew with other spelling and order, an index renamed, statistics, a trigger
CREATE TABLE t (id INTEGER PRIMARY KEY, a VARCHAR(10) NOT NULL DEFAULT 'x', b NUMERIC(5,2), c INT AS (id + 1), d TEXT UNIQUE); CREATE UNIQUE INDEX u ON t (a, b); CREATE INDEX i ON t (b); CREATE TABLE ch (t INT REFERENCES t); CREATE VIEW v AS SELECT id, a FROM t;
