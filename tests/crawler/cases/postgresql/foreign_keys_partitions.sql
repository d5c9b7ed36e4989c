-- Foreign keys from and to partitioned tables
CREATE TABLE cust (id integer PRIMARY KEY, n text) PARTITION BY RANGE (id);
CREATE TABLE cust_1 PARTITION OF cust FOR VALUES FROM (0) TO (100); CREATE TABLE cust_2 PARTITION OF cust FOR VALUES FROM (100) TO (200);
CREATE TABLE ord (id integer, c integer CONSTRAINT ord_c REFERENCES cust, at date) PARTITION BY RANGE (at);
CREATE TABLE ord_1 PARTITION OF ord FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
