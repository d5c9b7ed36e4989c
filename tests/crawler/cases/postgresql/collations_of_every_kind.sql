-- Collations of the database, of the server and of the user, on columns, arrays, domains, keys and views
CREATE SCHEMA words; CREATE COLLATION words."Any Case" (provider = libc, locale = 'C'); CREATE COLLATION german (provider = libc, locale = 'POSIX');
CREATE DOMAIN cased AS varchar(20) COLLATE words."Any Case";
CREATE TABLE t (a text, b text COLLATE "default", c text COLLATE "C", d text COLLATE "POSIX", e varchar(7) COLLATE ucs_basic, f text COLLATE words."Any Case", g text[] COLLATE german, h cased, i cased COLLATE "C", n name, nc name COLLATE "C", k char(3) COLLATE ucs_basic, PRIMARY KEY (c, e));
CREATE VIEW v AS SELECT a COLLATE "C" AS a, c, f || 'x' AS f, g, lower(h) AS h FROM t;
