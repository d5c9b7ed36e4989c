-- Names of columns and keys that the server compares without case, tables it compares with case
CREATE TABLE T (Id int PRIMARY KEY, `NAME` varchar(5), UNIQUE KEY `Name` (`name`)); CREATE TABLE t (ID int, CONSTRAINT fk FOREIGN KEY (id) REFERENCES T (ID)); CREATE VIEW V AS SELECT ID, name FROM T; CREATE VIEW v AS SELECT Id AS `iD` FROM t; CREATE TABLE JSONs (`Doc` json, e ENUM('X'));
