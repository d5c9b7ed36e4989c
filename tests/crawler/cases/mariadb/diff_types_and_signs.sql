-- Signs, zerofill, lengths, members, character sets, fractions and nullability changed, each alone
CREATE TABLE t (a int, b int, c varchar(5), d enum('a','b'), e set('a','b'), f datetime, g text, h varchar(5), i decimal(5,2), j int NULL, k int NOT NULL, l tinyint(1), m longtext, n year, o char(4), p float);
