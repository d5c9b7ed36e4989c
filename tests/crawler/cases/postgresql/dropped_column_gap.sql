-- Gap in attribute numbers after DROP COLUMN
CREATE TABLE gap (a integer, b varchar(20), c numeric(4,1)); ALTER TABLE gap DROP COLUMN b;
