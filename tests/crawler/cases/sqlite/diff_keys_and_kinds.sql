-- Foreign keys, unique indexes and kinds changed: table to view, rowid to none, a virtual table rebuilt
CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE q (id INTEGER PRIMARY KEY); CREATE TABLE c (x INT REFERENCES p, y INT); CREATE UNIQUE INDEX cy ON c (y); CREATE TABLE k (a INT, b TEXT); CREATE VIRTUAL TABLE f USING fts5(a, b); CREATE TABLE w (a TEXT PRIMARY KEY NOT NULL);
