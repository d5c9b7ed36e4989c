-- Exclusion constraints, checks and an invalid index
CREATE EXTENSION btree_gist; CREATE TABLE room (no integer, during tsrange, EXCLUDE USING gist (no WITH =, during WITH &&), CHECK (no > 0));
CREATE TABLE broken (a integer); CREATE UNIQUE INDEX broken_a ON broken (a);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken_a'::regclass;
