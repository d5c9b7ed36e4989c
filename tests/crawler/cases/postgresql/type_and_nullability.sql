-- integer to bigint, text to uuid, nullability flipped both ways
CREATE TABLE t (n integer, u text, a text, b text NOT NULL);
