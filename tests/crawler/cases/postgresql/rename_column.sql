-- Column renamed
CREATE TABLE person (id integer PRIMARY KEY, mail varchar(80) NOT NULL, born date); COMMENT ON COLUMN person.mail IS 'PII';
