-- SQLite has no comments: those of the definition are no description
CREATE TABLE t ( -- the table
 id INTEGER PRIMARY KEY, -- the key
 /* before */ a TEXT /* after */); CREATE VIEW v AS -- the view
 SELECT id /* id */ FROM t;
