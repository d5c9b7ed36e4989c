-- Everything made again in another order, with other spellings, statistics, rights, owners and physical settings
CREATE TYPE mood AS ENUM ('a', 'b'); CREATE DOMAIN pct AS numeric(5,2) CHECK (VALUE > 0) CHECK (VALUE < 100);
CREATE TABLE t (id bigserial PRIMARY KEY, m mood DEFAULT 'a', p pct, v varchar(10) NOT NULL DEFAULT 'x', ts timestamptz DEFAULT now(), n integer[] , UNIQUE (v, p), UNIQUE (p));
CREATE TABLE c (t bigint REFERENCES t, a integer, u text UNIQUE); CREATE VIEW vw AS SELECT id, v FROM t; CREATE TABLE log (at date, x integer) PARTITION BY RANGE (at); CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE idn (i integer GENERATED ALWAYS AS IDENTITY); CREATE TABLE par (a integer); CREATE TABLE chi () INHERITS (par); CREATE MATERIALIZED VIEW mv AS SELECT id FROM t WITH NO DATA;
