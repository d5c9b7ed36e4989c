-- A unique index of a partitioned table that not every partition has yet, so that it does not hold
CREATE TABLE h (k integer, v integer) PARTITION BY HASH (k);
CREATE TABLE h_0 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE h_1 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE UNIQUE INDEX h_k ON ONLY h (k); CREATE UNIQUE INDEX h_0_k ON h_0 (k); ALTER INDEX h_k ATTACH PARTITION h_0_k;
