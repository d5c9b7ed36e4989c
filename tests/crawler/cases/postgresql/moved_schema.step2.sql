-- Table moved to another schema
ALTER TABLE stage.t SET SCHEMA mart;
