-- Comments on index, constraint, type, schema and sequence next to an uncommented table
CREATE TABLE oc (a serial CONSTRAINT oc_pk PRIMARY KEY, b integer CONSTRAINT oc_ck CHECK (b > 0));
COMMENT ON COLUMN oc.b IS 'col b'; COMMENT ON CONSTRAINT oc_pk ON oc IS 'pk note'; COMMENT ON CONSTRAINT oc_ck ON oc IS 'ck note'; COMMENT ON INDEX oc_pk IS 'index note'; COMMENT ON SEQUENCE oc_a_seq IS 'seq note'; COMMENT ON TYPE oc IS 'row type note'; COMMENT ON SCHEMA public IS 'schema note';
