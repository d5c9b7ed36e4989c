-- Materialized views, one unpopulated
CREATE TABLE base (k integer, v numeric(8,2));
CREATE MATERIALIZED VIEW mv_total AS SELECT k, sum(v) AS total FROM base GROUP BY k;
CREATE UNIQUE INDEX mv_total_k ON mv_total (k);
COMMENT ON MATERIALIZED VIEW mv_total IS 'daily roll-up'; COMMENT ON COLUMN mv_total.total IS 'sum of v';
CREATE MATERIALIZED VIEW mv_cold AS SELECT k::bigint AS k FROM base WITH NO DATA;
