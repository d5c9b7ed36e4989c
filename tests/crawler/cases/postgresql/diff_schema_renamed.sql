-- A schema renamed with all that is in it, types and keys included
CREATE SCHEMA old; CREATE TYPE old.kind AS ENUM ('a', 'b'); CREATE TABLE old.p (id integer PRIMARY KEY, k old.kind DEFAULT 'a'); CREATE TABLE old.c (id serial, p integer REFERENCES old.p); CREATE TABLE out (p integer REFERENCES old.p, k old.kind);
