-- The same tables, constraints, indexes, sequences and comments in two schemas, with keys across
CREATE SCHEMA live; CREATE SCHEMA old;
CREATE TABLE live.item (id serial CONSTRAINT item_pk PRIMARY KEY, code text CONSTRAINT item_code UNIQUE, up integer CONSTRAINT item_up REFERENCES live.item);
CREATE TABLE old.item (id serial CONSTRAINT item_pk PRIMARY KEY, code varchar(5) CONSTRAINT item_code UNIQUE, up integer CONSTRAINT item_up REFERENCES live.item);
COMMENT ON TABLE live.item IS 'live one'; COMMENT ON COLUMN old.item.code IS 'old code';
CREATE TABLE item (id integer CONSTRAINT item_pk PRIMARY KEY, a integer CONSTRAINT item_a REFERENCES live.item, b integer CONSTRAINT item_b REFERENCES old.item, c text CONSTRAINT item_c REFERENCES live.item (code));
