-- Array of a domain, domain over a composite, range over a domain-like subtype
CREATE DOMAIN qty AS numeric(6,1) CHECK (VALUE > 0); CREATE TYPE addr AS (street varchar(40), zip char(5)); CREATE DOMAIN addr_d AS addr CHECK ((VALUE).zip IS NOT NULL); CREATE DOMAIN ts3 AS timestamp(3) with time zone; CREATE DOMAIN iv AS interval day to second(2);
CREATE TABLE dc (qs qty[], a addr_d, t ts3, i iv, q qty NOT NULL DEFAULT 1.5);
