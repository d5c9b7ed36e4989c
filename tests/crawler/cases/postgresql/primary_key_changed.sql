-- Primary key moved to other columns, same field list
CREATE TABLE t (id integer PRIMARY KEY, region text);
