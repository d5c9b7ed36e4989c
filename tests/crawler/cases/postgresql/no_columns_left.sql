-- Tables without columns: made so, and with all of them dropped; a column dropped and made again
CREATE TABLE bare (); CREATE TABLE emptied (a integer PRIMARY KEY, b text UNIQUE); ALTER TABLE emptied DROP COLUMN a, DROP COLUMN b;
CREATE TABLE again (a integer DEFAULT 1, b text, c date); COMMENT ON COLUMN again.a IS 'first a'; ALTER TABLE again DROP COLUMN a; ALTER TABLE again ADD COLUMN a bigint NOT NULL DEFAULT 2;
ALTER TABLE again ALTER COLUMN b TYPE varchar(9); CREATE VIEW looks AS SELECT FROM again; CREATE VIEW again_v AS SELECT * FROM again;
