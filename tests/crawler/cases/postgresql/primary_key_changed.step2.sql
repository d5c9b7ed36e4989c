-- Primary key moved to other columns, same field list
ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (region, id);
