-- Only a comment, a collation and ON UPDATE changed
CREATE TABLE t (a int, b varchar(9) COLLATE utf8mb4_general_ci, c timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP);
