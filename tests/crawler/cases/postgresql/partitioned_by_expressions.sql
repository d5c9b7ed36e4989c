-- Partition keys of expressions, operator classes and collations; unique keys and indexes over all partitions
CREATE TABLE e (a text COLLATE "C", b integer, c jsonb) PARTITION BY RANGE (lower(a) COLLATE "POSIX", ((b + 1)), a text_pattern_ops);
CREATE TABLE e_1 PARTITION OF e FOR VALUES FROM ('a', 1, MINVALUE) TO ('m', MAXVALUE, MAXVALUE);
CREATE TABLE u (k integer, v integer, w text) PARTITION BY HASH (k); CREATE TABLE u_0 PARTITION OF u FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE UNIQUE INDEX u_kv ON u (k, v) INCLUDE (w); CREATE UNIQUE INDEX u_0_w ON u_0 (w); ALTER TABLE u ADD CONSTRAINT u_v UNIQUE (v, k) DEFERRABLE;
CREATE TABLE fk_to (k integer, v integer, CONSTRAINT to_parts FOREIGN KEY (k, v) REFERENCES u (k, v));
CREATE TABLE one_part_fk (id integer PRIMARY KEY); ALTER TABLE u_0 ADD CONSTRAINT only_here FOREIGN KEY (v) REFERENCES one_part_fk;
