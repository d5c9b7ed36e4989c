-- Unlogged table and a table under forced row-level security without any policy
CREATE UNLOGGED TABLE fast (k text PRIMARY KEY, v bytea);
CREATE TABLE guarded (tenant uuid NOT NULL, note text); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
