-- Nothing but settings of the database and the encoding of the session changed
CREATE TABLE t (d date DEFAULT '2024-02-01', ts timestamptz DEFAULT '2024-02-01 10:00+00', iv interval DEFAULT '1 day 02:00', f double precision DEFAULT 0.1, b bytea DEFAULT '\x41', g integer GENERATED ALWAYS AS (1 + 2) STORED, "Q" text DEFAULT 'a\b');
CREATE UNIQUE INDEX u ON t ("Q") WHERE d > '2024-02-01';
