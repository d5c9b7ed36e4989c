-- Table moved to another schema
CREATE SCHEMA stage; CREATE SCHEMA mart; CREATE TABLE stage.t (id integer PRIMARY KEY, v jsonb);
