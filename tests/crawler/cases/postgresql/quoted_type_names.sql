-- Types whose names need quotes: spaces, dots, brackets, parentheses
CREATE SCHEMA "My Types"; CREATE TYPE "My Types"."weird.enum" AS ENUM ('a');
CREATE DOMAIN "a[]" AS integer; CREATE DOMAIN "num(3)" AS numeric(9,3); CREATE TYPE "has ""q""" AS ENUM ('q');
CREATE TABLE qt (a "My Types"."weird.enum", b "a[]", c "num(3)", d "has ""q""", e "My Types"."weird.enum"[]);
