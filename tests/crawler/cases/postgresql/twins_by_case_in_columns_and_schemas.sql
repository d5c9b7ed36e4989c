-- Columns, schemas and types that differ only in case, with keys between them
CREATE SCHEMA "Sales"; CREATE SCHEMA sales; CREATE SCHEMA "SALES";
CREATE TYPE "Sales".kind AS ENUM ('Big'); CREATE TYPE sales.kind AS ENUM ('small'); CREATE DOMAIN "SALES"."Kind" AS integer;
CREATE TABLE "Sales".t (id integer, "ID" integer, "Id" integer, k "Sales".kind, PRIMARY KEY ("ID", id));
CREATE TABLE sales.t (id integer PRIMARY KEY, k sales.kind);
CREATE TABLE "SALES".t ("iD" integer, id integer REFERENCES sales.t, k "SALES"."Kind", FOREIGN KEY ("iD", id) REFERENCES "Sales".t ("ID", id));
CREATE TABLE "SALES"."T" ("T" integer, t integer);
