-- Only a comment, a collation and ON UPDATE changed
ALTER TABLE t MODIFY a int COMMENT 'note', MODIFY b varchar(9) COLLATE utf8mb4_bin, MODIFY c timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP;
