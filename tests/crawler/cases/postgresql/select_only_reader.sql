-- A reader role that owns nothing: keys must still be found
DO $$ BEGIN CREATE ROLE aide_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TABLE item (id integer PRIMARY KEY, code text UNIQUE); CREATE TABLE sale (id integer PRIMARY KEY, item integer CONSTRAINT sale_item REFERENCES item);
GRANT USAGE ON SCHEMA public TO aide_reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO aide_reader;
