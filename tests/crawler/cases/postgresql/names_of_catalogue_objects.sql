-- Tables, types and functions of the user named like those of the catalogue, found first through a search path
CREATE SCHEMA shadow;
CREATE TABLE shadow.pg_class (oid integer, relname text); CREATE TABLE shadow.pg_attribute (a integer); CREATE TABLE shadow.pg_namespace (oid oid, nspname name);
CREATE TABLE shadow.pg_type (a integer); CREATE TABLE shadow.pg_settings (name text, setting text); CREATE DOMAIN shadow.text AS varchar(3); CREATE DOMAIN shadow.int4 AS numeric(3);
CREATE FUNCTION shadow.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT ''fooled''::pg_catalog.text';
CREATE FUNCTION shadow.format_type(oid, integer) RETURNS text LANGUAGE sql AS 'SELECT ''fooled''::pg_catalog.text';
CREATE FUNCTION shadow.current_database() RETURNS name LANGUAGE sql AS 'SELECT ''fooled''::name';
CREATE TABLE t (a integer PRIMARY KEY, b shadow.text, c shadow.int4, d text);
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = shadow, pg_catalog, public', current_database()); END $$;
