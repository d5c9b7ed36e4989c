-- Foreign tables of two wrappers: defaults, NOT NULL, column options, comments, partitions and children
CREATE EXTENSION postgres_fdw; CREATE EXTENSION file_fdw; CREATE SERVER "far away" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '1'); CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE remote (id bigint OPTIONS (column_name 'ID') NOT NULL, name varchar(30) COLLATE "C" DEFAULT 'x', tags text[], dbl bigint GENERATED ALWAYS AS (id * 2) STORED, CHECK (id > 0)) SERVER "far away" OPTIONS (schema_name 's', table_name 't');
CREATE FOREIGN TABLE csv (line text) SERVER files OPTIONS (filename '/nonexistent.csv');
COMMENT ON FOREIGN TABLE remote IS 'lives elsewhere'; COMMENT ON COLUMN remote.name IS 'their name';
CREATE TABLE log (at date, msg text) PARTITION BY RANGE (at); CREATE FOREIGN TABLE log_far PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') SERVER "far away";
CREATE TABLE parent (a integer); CREATE FOREIGN TABLE child (b integer) INHERITS (parent) SERVER "far away"; CREATE VIEW over_far AS SELECT id, name FROM remote;
