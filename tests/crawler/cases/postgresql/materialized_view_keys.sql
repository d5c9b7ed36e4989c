-- Materialized views on views and on each other, unique indexes of every kind, an index of none
CREATE TABLE base (k integer, g text, v numeric(8,2)); CREATE VIEW v AS SELECT g, k, v FROM base;
CREATE MATERIALIZED VIEW m1 AS SELECT g, max(k) AS k, sum(v)::numeric(20,2) AS s FROM v GROUP BY g; CREATE MATERIALIZED VIEW m2 AS SELECT lower(g) AS g, s FROM m1 WITH NO DATA;
CREATE UNIQUE INDEX m1_g ON m1 (g) WHERE k > 0; CREATE UNIQUE INDEX m1_k ON m1 (k) NULLS NOT DISTINCT; CREATE UNIQUE INDEX m1_e ON m1 (lower(g), k); CREATE INDEX m2_s ON m2 (s);
COMMENT ON COLUMN m2.s IS 'not there yet'; ALTER MATERIALIZED VIEW m2 RENAME COLUMN g TO "G";
