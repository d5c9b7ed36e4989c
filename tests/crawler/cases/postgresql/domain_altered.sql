-- Domain gains a check and NOT NULL; its users change although no ALTER TABLE ran
CREATE DOMAIN pct AS numeric(5,2); CREATE TABLE t (a pct, b numeric(5,2));
