-- Inheritance over three levels, with merged columns, an overridden default, dotted names and a foreign child
CREATE SCHEMA "a.b";
CREATE TABLE "a.b"."base.t" (id integer NOT NULL, note varchar(20) DEFAULT 'base', made date, CONSTRAINT here CHECK (id > 0) NO INHERIT);
CREATE TABLE other (id integer DEFAULT 7, flag boolean);
CREATE TABLE mid (note varchar(20) DEFAULT 'mid', own text UNIQUE) INHERITS ("a.b"."base.t");
CREATE TABLE leaf (PRIMARY KEY (id), flag boolean NOT NULL) INHERITS (mid, other);
ALTER TABLE mid NO INHERIT "a.b"."base.t"; ALTER TABLE mid INHERIT "a.b"."base.t"; ALTER TABLE other ADD COLUMN late smallint;
