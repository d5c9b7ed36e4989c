-- A column renamed and widened, one renamed to another case, a table renamed, another renamed to another case
CREATE TABLE person (id integer PRIMARY KEY, mail varchar(80), tel text, "Zip" char(5)); COMMENT ON COLUMN person.mail IS 'mail address'; CREATE TABLE old_name (k uuid PRIMARY KEY, body jsonb, at timestamptz); CREATE TABLE "Case" (a integer, b text, c date);
