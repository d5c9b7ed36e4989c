-- A reader with single columns, without the right to a schema, under row security, with rights taken back
DO $$ BEGIN CREATE ROLE aide_reader_1 LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE SCHEMA shut; CREATE TYPE shut.kind AS ENUM ('a'); CREATE TABLE shut.t (id serial PRIMARY KEY, k shut.kind DEFAULT 'a'); GRANT SELECT ON shut.t TO aide_reader_1; REVOKE USAGE ON TYPE shut.kind FROM PUBLIC;
CREATE TABLE partly (a integer PRIMARY KEY, b text DEFAULT 'hidden' UNIQUE, c integer GENERATED ALWAYS AS IDENTITY, r integer REFERENCES shut.t); COMMENT ON COLUMN partly.b IS 'not granted'; GRANT SELECT (a) ON partly TO aide_reader_1;
CREATE TABLE none (a integer); CREATE TABLE write_only (a integer); GRANT INSERT, UPDATE ON write_only TO aide_reader_1; CREATE TABLE ruled (a integer); ALTER TABLE ruled ENABLE ROW LEVEL SECURITY; CREATE POLICY nobody ON ruled USING (false); GRANT SELECT ON ruled TO aide_reader_1;
CREATE VIEW through AS SELECT b FROM partly; GRANT SELECT ON through TO aide_reader_1; CREATE MATERIALIZED VIEW kept AS SELECT a FROM none; CREATE FUNCTION secret() RETURNS integer LANGUAGE sql AS 'SELECT 1'; REVOKE ALL ON FUNCTION secret() FROM PUBLIC; CREATE TABLE calls (a integer DEFAULT secret()); GRANT SELECT ON calls TO PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO aide_reader_1;
