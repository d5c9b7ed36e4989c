-- The default of a domain follows a renamed label and a moved type
CREATE SCHEMA s; CREATE TYPE lvl AS ENUM ('a', 'b'); CREATE DOMAIN d AS lvl DEFAULT 'a'; CREATE TABLE t (x d);
