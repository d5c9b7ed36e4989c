-- A reader in a database whose views of settings, locks and files are closed to everyone
DO $$ BEGIN CREATE ROLE aide_reader_3 LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
CREATE TABLE t (a integer PRIMARY KEY DEFAULT 1, b integer GENERATED ALWAYS AS (a + 1) STORED); GRANT SELECT ON t TO PUBLIC; REVOKE ALL ON pg_settings, pg_locks, pg_stat_activity, pg_user, pg_roles, pg_shadow, pg_database, pg_user_mappings FROM PUBLIC;
