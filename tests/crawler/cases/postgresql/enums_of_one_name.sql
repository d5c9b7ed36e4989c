-- Enums of one name in three schemas, their arrays and domains, labels that look like code
CREATE SCHEMA a; CREATE SCHEMA "b.c";
CREATE TYPE state AS ENUM ('new', 'done'); CREATE TYPE a.state AS ENUM ('NEW', 'new ', 'null', 'NULL', '{}', '--', E'tab\there', E'two\nlines'); CREATE TYPE "b.c".state AS ENUM (); CREATE DOMAIN a.final AS a.state DEFAULT 'NULL' NOT NULL;
ALTER TYPE state ADD VALUE 'first' BEFORE 'new'; ALTER TYPE state ADD VALUE 'mid' AFTER 'new';
CREATE TABLE t (s state DEFAULT 'new', sa a.state DEFAULT 'null', sb "b.c".state, arr a.state[] DEFAULT '{NULL,"NULL"}', f a.final, fs a.final[]);
