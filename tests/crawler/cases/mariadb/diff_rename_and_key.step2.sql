-- Column renamed with CHANGE, table renamed, primary key swapped
ALTER TABLE t CHANGE old new int NOT NULL, DROP PRIMARY KEY, ADD PRIMARY KEY (new); RENAME TABLE a TO b;
