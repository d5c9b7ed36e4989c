-- Declarative range partitions with a default partition
CREATE TABLE measure (at date NOT NULL, sensor integer NOT NULL, v numeric(9,4), PRIMARY KEY (at, sensor)) PARTITION BY RANGE (at);
CREATE TABLE measure_2024 PARTITION OF measure FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE measure_2025 PARTITION OF measure FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE measure_rest PARTITION OF measure DEFAULT;
COMMENT ON COLUMN measure.v IS 'value in kelvin';
