-- Composites in composites, with dropped, collated and parametrised members, the row type of a table, ranges over user types
CREATE SCHEMA geo; CREATE DOMAIN geo.deg AS numeric(9,6) CHECK (VALUE BETWEEN -180 AND 180);
CREATE TYPE geo.point AS (lat geo.deg, lon geo.deg, gone text); ALTER TYPE geo.point DROP ATTRIBUTE gone; ALTER TYPE geo.point ADD ATTRIBUTE "Alt (m)" real;
CREATE TYPE address AS (street varchar(40) COLLATE "C", spot geo.point, spots geo.point[], at timestamptz(0)); CREATE TYPE nobody AS ();
CREATE TYPE degrange AS RANGE (subtype = numeric, multirange_type_name = "many degrees"); CREATE DOMAIN near AS degrange CHECK (upper(VALUE) < 90);
CREATE TABLE place (id integer, home address NOT NULL DEFAULT ROW('x', NULL, NULL, NULL)::address, empty nobody, r degrange, rs "many degrees", n near, ns near[]);
CREATE TABLE history (old place, olds place[]); CREATE VIEW whole AS SELECT p, p.home AS h, (p.home).spot AS s FROM place p; ALTER TABLE place ADD COLUMN late smallint;
