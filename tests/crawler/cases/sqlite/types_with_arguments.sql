-- Type text with commas, signs, spaces and non-numeric arguments
CREATE TABLE t (a "VARCHAR(255, foo)", b numeric( 10 , 2 ), c DECIMAL(10,-2), d "DECIMAL(10,2) UNSIGNED", e VARCHAR(+20), f "ENUM('a','b')", g INTEGER(11), h FLOAT(5,2), i "TIMESTAMP(3) WITH TIME ZONE", j BLOB(16), k TEXT(40));
