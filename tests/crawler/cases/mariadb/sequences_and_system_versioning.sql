-- MariaDB sequence and system-versioned table
CREATE SEQUENCE s START 100 INCREMENT 10; CREATE TABLE hist (a int, v decimal(6,2)) WITH SYSTEM VERSIONING; CREATE TABLE plain (id bigint DEFAULT nextval(s));
