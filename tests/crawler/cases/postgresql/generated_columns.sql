-- Generated columns with casts, quotes, functions of other schemas, keys and comments
CREATE SCHEMA fn; CREATE FUNCTION fn."Twice"(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
CREATE TABLE g (a integer NOT NULL, "B b" text, c integer GENERATED ALWAYS AS (fn."Twice"(a)) STORED, d text GENERATED ALWAYS AS ("B b" || ', (' || a::text || ') it''s') STORED NOT NULL, e numeric(9,2) GENERATED ALWAYS AS (CASE WHEN a > 0 THEN a / 2.0 ELSE NULL END) STORED PRIMARY KEY, f tsvector GENERATED ALWAYS AS (to_tsvector('english', coalesce("B b", ''))) STORED, UNIQUE (c));
COMMENT ON COLUMN g.d IS 'made of both'; CREATE TABLE g_child () INHERITS (g); ALTER TABLE g ALTER COLUMN f DROP EXPRESSION; CREATE VIEW gv AS SELECT c, d FROM g;
