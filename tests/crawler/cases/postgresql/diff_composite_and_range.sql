-- Composite attributes added and retyped, a domain's default and check changed: their users change without an ALTER TABLE
CREATE TYPE addr AS (street varchar(10), zip char(5)); CREATE DOMAIN code AS varchar(3) DEFAULT 'a' CONSTRAINT c1 CHECK (VALUE <> ''); CREATE TABLE t (a addr, b addr[], c code, e integer); CREATE TABLE same (v code);
