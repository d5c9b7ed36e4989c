-- Application-time periods, keys without overlaps, and versioning by transaction
CREATE TABLE pe (room int, s date, e date, PERIOD FOR stay (s, e), UNIQUE (room, stay WITHOUT OVERLAPS)); CREATE TABLE pk (id int, s datetime(3), e datetime(3), PERIOD FOR p (s, e), PRIMARY KEY (id, p WITHOUT OVERLAPS));
CREATE TABLE trx (a int, st bigint unsigned GENERATED ALWAYS AS ROW START, en bigint unsigned GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (st, en)) WITH SYSTEM VERSIONING;
