-- Table dropped and created again with the same shape
DROP TABLE t; CREATE TABLE t (id serial PRIMARY KEY, v numeric(5,1) DEFAULT 0, CHECK (v >= 0)); COMMENT ON TABLE t IS 'same';
