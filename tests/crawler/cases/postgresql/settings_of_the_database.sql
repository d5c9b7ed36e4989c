-- Settings of the database that change how the server spells dates, names, numbers and bytes
CREATE SCHEMA s; CREATE TYPE s.kind AS ENUM ('a'); CREATE SEQUENCE s.q;
CREATE TABLE t (id integer PRIMARY KEY, d date DEFAULT '2024-02-01', ts timestamptz DEFAULT '2024-02-01 10:00+00', iv interval DEFAULT '1 day 02:00', f double precision DEFAULT 0.1::real, b bytea DEFAULT '\x4142', k s.kind DEFAULT 'a', n bigint DEFAULT nextval('s.q'), g integer GENERATED ALWAYS AS (id + 1) STORED, name varchar(5) COLLATE "C", arr integer[] DEFAULT '{}');
CREATE UNIQUE INDEX t_d ON t (d) WHERE ts > '2024-02-01 10:00+00';
DO $$ DECLARE s text; BEGIN
    FOREACH s IN ARRAY ARRAY['DateStyle = ''German, DMY''', 'IntervalStyle = iso_8601', 'TimeZone = ''America/New_York''', 'extra_float_digits = -5', 'bytea_output = escape', 'quote_all_identifiers = on', 'standard_conforming_strings = off', 'search_path = s', 'default_transaction_isolation = serializable', 'client_encoding = latin1', 'array_nulls = off'] LOOP
        EXECUTE format('ALTER DATABASE %I SET %s', current_database(), s);
    END LOOP; END $$;
