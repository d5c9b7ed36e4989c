-- Columns added, one with default, one generated
CREATE TABLE t (id INTEGER PRIMARY KEY);
