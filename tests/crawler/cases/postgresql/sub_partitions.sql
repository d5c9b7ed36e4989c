-- Partitions of partitions by list, range and hash, in another schema, with an own comment and column order
CREATE SCHEMA parts;
CREATE TABLE sale (region text NOT NULL, day date NOT NULL, id bigint NOT NULL, amount numeric(10,2) DEFAULT 0, PRIMARY KEY (region, day, id)) PARTITION BY LIST (region);
CREATE TABLE parts.sale_eu PARTITION OF sale FOR VALUES IN ('de', 'fr') PARTITION BY RANGE (day);
CREATE TABLE parts.sale_eu_24 PARTITION OF parts.sale_eu FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') PARTITION BY HASH (id);
CREATE TABLE parts.sale_eu_24_0 PARTITION OF parts.sale_eu_24 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts.sale_eu_24_1 PARTITION OF parts.sale_eu_24 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE sale_none PARTITION OF sale FOR VALUES IN (NULL); CREATE TABLE sale_rest PARTITION OF sale DEFAULT;
CREATE TABLE parts.joined (id bigint NOT NULL, extra text, amount numeric(10,2), day date NOT NULL, region text NOT NULL); ALTER TABLE parts.joined DROP COLUMN extra;
ALTER TABLE sale ATTACH PARTITION parts.joined FOR VALUES IN ('us');
COMMENT ON TABLE parts.joined IS 'joined later'; ALTER TABLE sale DETACH PARTITION sale_rest; COMMENT ON TABLE sale IS 'all sales';
CREATE TABLE never (a integer) PARTITION BY RANGE (a);
