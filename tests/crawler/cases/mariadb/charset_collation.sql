-- Per-column charset and collation, binary collation, charset-less binary strings
CREATE TABLE c (l varchar(10) CHARACTER SET latin1, b varchar(10) COLLATE utf8mb4_bin, n national varchar(5), u char(3) CHARACTER SET ucs2, bin varchar(10) CHARACTER SET binary, asc1 text CHARACTER SET ascii) CHARACTER SET utf8mb3;
