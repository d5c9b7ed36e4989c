-- Dots, spaces and slashes in schema, table and column names
CREATE SCHEMA "a.b"; CREATE SCHEMA a;
CREATE TABLE "a.b".c ("x y" integer PRIMARY KEY);
CREATE TABLE a."b.c" ("x/y" text, "x.y" integer REFERENCES "a.b".c("x y"));
