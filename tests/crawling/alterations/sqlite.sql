-- Each case: its name, what it makes, then what alters it, then what must be told of it (op table.column risk).

-- case kinds_of_tables
CREATE TABLE w (a TEXT PRIMARY KEY, b INT) WITHOUT ROWID;
CREATE TABLE s (a INT PRIMARY KEY, b ANY) STRICT;
-- then
DROP TABLE w;
CREATE TABLE w (a TEXT PRIMARY KEY, b INT);
DROP TABLE s;
CREATE TABLE s (a INT PRIMARY KEY, b ANY);
-- told: change_nullable w.a safe
-- told: change_nullable s.a safe
-- told: change_type s.b breaking

-- case numbered
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
CREATE TABLE u (a INT PRIMARY KEY);
-- then
DROP TABLE t;
CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT);
DROP TABLE u;
CREATE TABLE u (a INTEGER PRIMARY KEY);
-- told: change_identity t.a risky
-- told: change_identity u.a risky
-- told: change_nullable u.a risky

-- case computed
CREATE TABLE t (a INT, b INT AS (a + 1), c INT AS (a * 2) STORED);
-- then
DROP TABLE t;
CREATE TABLE t (a INT, b INT AS ( a+2 ), c INT GENERATED ALWAYS AS (a*2) STORED);
-- told: change_generated t.b risky

-- case virtual_tables
CREATE VIRTUAL TABLE f USING fts5(title, body);
CREATE VIRTUAL TABLE r USING rtree(id, x0, x1);
-- then
DROP TABLE f;
CREATE VIRTUAL TABLE f USING fts5(title, body, extra);
DROP TABLE r;
CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, +name);
-- told: add_field f.extra safe
-- told: add_field r.name safe

-- case unique_in_part
CREATE TABLE t (a, b, c);
CREATE UNIQUE INDEX u ON t (a) WHERE b IS NOT NULL;
CREATE UNIQUE INDEX d ON t (c DESC);
-- then
DROP INDEX u;
CREATE UNIQUE INDEX u ON t (a);
DROP INDEX d;
CREATE UNIQUE INDEX d ON t (c);
-- told: drop_unique t breaking
-- told: add_unique t risky

-- case spelled_otherwise
CREATE TABLE t (a VARCHAR(10), b DECIMAL(10,5), c BIGINT UNSIGNED, d TEXT DEFAULT 'x', e DEFAULT (1+1));
-- then
DROP TABLE t;
CREATE TABLE t (a varchar( 10 ), b decimal(10, 5), c bigint  unsigned, d TEXT DEFAULT ('x'), e DEFAULT (1 + 1));

-- case renamed_by_making_anew
CREATE TABLE t (id INTEGER PRIMARY KEY, old_name TEXT NOT NULL, x INT DEFAULT 3);
-- then
CREATE TABLE t2 (id INTEGER PRIMARY KEY, new_name TEXT NOT NULL, x INT DEFAULT 3);
DROP TABLE t;
ALTER TABLE t2 RENAME TO t;
-- told: rename_field t.old_name breaking

-- case keys_written_otherwise
CREATE TABLE p (a INT, b INT, PRIMARY KEY (a, b));
CREATE TABLE c (x INT, y INT, FOREIGN KEY (x, y) REFERENCES p ON DELETE CASCADE, UNIQUE (x), UNIQUE (y, x));
-- then
DROP TABLE c;
CREATE TABLE c (x INT, y INT, CONSTRAINT f FOREIGN KEY (x, y) REFERENCES P (A, B) ON DELETE CASCADE, CONSTRAINT u UNIQUE (x), UNIQUE (x, y));

-- case a_view_that_grows
CREATE TABLE t (a INT);
CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW w AS SELECT a AS z FROM v;
-- then
ALTER TABLE t ADD c REAL;
-- told: add_field t.c safe
-- told: add_field v.c safe

-- case other_case
CREATE TABLE Foo (Id INTEGER PRIMARY KEY, Bar);
-- then
ALTER TABLE Foo RENAME TO xx;
ALTER TABLE xx RENAME TO foo;
ALTER TABLE foo RENAME Bar TO bar;
-- told: rename_dataset Foo breaking
-- told: rename_field Foo.Bar breaking

-- case another_encoding
PRAGMA encoding = 'UTF-16';
CREATE TABLE tä (ü TEXT DEFAULT 'é', x INT);
-- then
ALTER TABLE tä RENAME ü TO ü2;
-- told: rename_field tä.ü breaking

-- case required
CREATE TABLE t (a INT, b INT NOT NULL, c TEXT PRIMARY KEY);
-- then
DROP TABLE t;
CREATE TABLE t (a INT NOT NULL, b INT, c TEXT NOT NULL PRIMARY KEY);
-- told: change_nullable t.a risky
-- told: change_nullable t.b safe
-- told: change_nullable t.c risky
