-- Column renamed with CHANGE, table renamed, primary key swapped
CREATE TABLE t (id int NOT NULL PRIMARY KEY, old int NOT NULL, n decimal(6,2)); CREATE TABLE a (x int, y varchar(7));
