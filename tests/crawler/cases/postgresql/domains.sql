-- Domains: NOT NULL, default, checks, domain over domain, same name in two schemas
CREATE SCHEMA x; CREATE SCHEMA y;
CREATE DOMAIN x.money2 AS numeric(14,3) DEFAULT 0 NOT NULL CONSTRAINT pos CHECK (VALUE >= 0) CONSTRAINT "not (huge)" CHECK (VALUE < 1000000);
CREATE DOMAIN y.money2 AS varchar(8) COLLATE "C";
CREATE DOMAIN y.nested AS x.money2 CHECK (VALUE > 1);
CREATE TABLE d (a x.money2, b y.money2, c y.nested, ok integer);
