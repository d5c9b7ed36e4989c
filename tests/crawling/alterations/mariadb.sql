-- Each case: its name, what it makes, then what alters it, then what must be told of it (op table.column risk).

-- case versions_kept
CREATE TABLE t (a int);
CREATE TABLE v (a int) WITH SYSTEM VERSIONING;
-- then
ALTER TABLE t ADD SYSTEM VERSIONING;
ALTER TABLE v DROP SYSTEM VERSIONING;

-- case hidden_and_shown
CREATE TABLE t (a int, b int INVISIBLE DEFAULT 1, c int);
-- then
ALTER TABLE t MODIFY b int DEFAULT 1, MODIFY c int INVISIBLE;

-- case json_and_text
CREATE TABLE t (a json, b longtext, c int);
-- then
ALTER TABLE t MODIFY a longtext, MODIFY b json;
-- told: change_type t.a breaking
-- told: change_type t.b breaking

-- case computed
CREATE TABLE t (a int, b int AS (a + 1) VIRTUAL, c int AS (a * 2) PERSISTENT, d int AS (a) VIRTUAL);
-- then
ALTER TABLE t MODIFY b int AS (a + 2) VIRTUAL;
ALTER TABLE t MODIFY c int;
ALTER TABLE t DROP d;
ALTER TABLE t ADD d int AS (a) STORED;
-- told: change_generated t.b risky
-- told: change_generated t.c risky
-- told: change_generated t.d risky

-- case on_update
CREATE TABLE t (a timestamp DEFAULT current_timestamp ON UPDATE current_timestamp, b datetime DEFAULT now());
-- then
ALTER TABLE t MODIFY a timestamp DEFAULT now(), MODIFY b datetime DEFAULT now() ON UPDATE now();
-- told: change_on_update t.a risky
-- told: change_on_update t.b risky

-- case a_sequence_takes_the_name
CREATE TABLE s (a int, b int);
CREATE TABLE t (a int);
-- then
DROP TABLE s;
CREATE SEQUENCE s;
-- told: drop_dataset s breaking

-- case other_case
CREATE TABLE Foo (Id int PRIMARY KEY, Bar int);
-- then
RENAME TABLE Foo TO foo;
ALTER TABLE foo CHANGE Bar bar int;
-- told: rename_dataset Foo breaking
-- told: rename_field Foo.Bar breaking

-- case character_sets
CREATE TABLE t (a varchar(20) CHARSET utf8mb3, b varchar(20) CHARSET utf8mb4, c varchar(5)) CHARSET latin1;
-- then
ALTER TABLE t MODIFY a varchar(20) CHARSET utf8mb4, MODIFY b varchar(20) COLLATE utf8mb4_bin;
ALTER TABLE t CHARSET utf8mb4;
-- told: change_parameters t.a risky
-- told: change_parameters t.b risky

-- case no_date_at_all
SET sql_mode = '';
CREATE TABLE t (a date NOT NULL DEFAULT '0000-00-00', b timestamp NOT NULL DEFAULT 0);
-- then
SET sql_mode = '';
ALTER TABLE t MODIFY a date NOT NULL DEFAULT '1970-01-01';
-- told: change_default t.a safe

-- case spelled_otherwise
CREATE TABLE t (a int(11), b bigint(20) unsigned, c tinyint(1) DEFAULT true, d decimal(5,2) DEFAULT 1, e timestamp DEFAULT current_timestamp, f varchar(5) DEFAULT 'x', g dec(5,1), h character varying(5));
-- then
ALTER TABLE t MODIFY a int(7), MODIFY b bigint unsigned, MODIFY c tinyint(4) DEFAULT 1, MODIFY d decimal(5,2) DEFAULT 1.00, MODIFY e timestamp DEFAULT now(), MODIFY f varchar(5) DEFAULT "x", MODIFY g decimal(5,1), MODIFY h varchar(5);

-- case signs_and_sizes
CREATE TABLE t (a int, b int unsigned, c decimal(10,2), d double, e tinytext, f mediumblob);
-- then
ALTER TABLE t MODIFY a int unsigned, MODIFY b bigint, MODIFY c decimal(10,3), MODIFY d float, MODIFY e text, MODIFY f blob;
-- told: change_parameters t.a breaking
-- told: change_type t.b safe
-- told: change_parameters t.c breaking
-- told: change_type t.d breaking
-- told: change_type t.e safe
-- told: change_type t.f breaking

-- case labels
CREATE TABLE t (a enum('x','y'), b set('p','q'), c enum('1','2'));
-- then
ALTER TABLE t MODIFY a enum('x','y','z'), MODIFY b set('p'), MODIFY c enum('2','1');
-- told: change_parameters t.a safe
-- told: change_parameters t.b risky
-- told: change_parameters t.c risky

-- case columns_moved
CREATE TABLE t (a int, b int, c varchar(3));
-- then
ALTER TABLE t MODIFY c varchar(3) FIRST;

-- case partitioned_and_rebuilt
CREATE TABLE t (a int, b int);
CREATE TABLE u (a int) ENGINE = MyISAM;
-- then
ALTER TABLE t PARTITION BY HASH (a) PARTITIONS 4;
ALTER TABLE u ENGINE = InnoDB ROW_FORMAT = COMPRESSED;

-- case keys
CREATE TABLE p (a int PRIMARY KEY);
CREATE TABLE c (x int, y int, KEY kx (x), UNIQUE u (x, y), UNIQUE un (y), CONSTRAINT f FOREIGN KEY (x) REFERENCES p (a) ON DELETE CASCADE);
-- then
ALTER TABLE c DROP FOREIGN KEY f;
ALTER TABLE c ADD CONSTRAINT g FOREIGN KEY (x) REFERENCES p (a) ON DELETE CASCADE;
ALTER TABLE c DROP KEY u, ADD UNIQUE u (y, x);
ALTER TABLE c DROP KEY un, ADD KEY un (y);
-- told: drop_unique c breaking

-- case prefixes
CREATE TABLE t (a varchar(100), UNIQUE u (a(10)));
-- then
ALTER TABLE t DROP KEY u, ADD UNIQUE u (a(20));
-- told: drop_unique t breaking
-- told: add_unique t risky

-- case numbered
CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY);
CREATE TABLE u (id int AUTO_INCREMENT PRIMARY KEY);
-- then
ALTER TABLE t MODIFY id int;
ALTER TABLE u AUTO_INCREMENT = 5000;
-- told: change_identity t.id risky

-- case made_anew
CREATE TABLE t (a int PRIMARY KEY, b varchar(5), c datetime);
CREATE TABLE k (x int, FOREIGN KEY (x) REFERENCES t (a));
-- then
SET foreign_key_checks = 0;
DROP TABLE t;
CREATE TABLE t (c datetime, a int, b varchar(5), PRIMARY KEY (a));
SET foreign_key_checks = 1;

-- case table_becomes_view
CREATE TABLE t (a int);
CREATE TABLE base (a int);
-- then
DROP TABLE t;
CREATE VIEW t AS SELECT * FROM base;
-- told: change_kind t breaking

-- case no_part_of_a_table
CREATE TABLE t (a int CHECK (a > 0), b text COMPRESSED);
-- then
ALTER TABLE t DROP CONSTRAINT IF EXISTS c;
ALTER TABLE t MODIFY b text;
CREATE INDEX i ON t (a);
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1;
CREATE FUNCTION f() RETURNS int RETURN 1;
