-- Composite primary key in another order than the columns, deferrable, with INCLUDE
CREATE TABLE pk1 (a integer, b integer, c integer, d text, CONSTRAINT "the key" PRIMARY KEY (c, a) INCLUDE (d));
CREATE TABLE pk2 (y integer, x integer, PRIMARY KEY (x) DEFERRABLE INITIALLY DEFERRED); CREATE TABLE nopk (z integer);
