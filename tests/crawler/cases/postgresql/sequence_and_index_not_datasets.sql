-- Sequences, indexes, composite types and toast tables are no datasets
CREATE SEQUENCE lonely; CREATE TYPE pair AS (a integer, b integer); CREATE TABLE one (id integer PRIMARY KEY, big text); CREATE INDEX one_big ON one (big);
