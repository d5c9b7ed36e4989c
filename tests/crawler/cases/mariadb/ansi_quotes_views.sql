-- Wide view with expressions: decimals, unions, literals, collations
CREATE TABLE t (id int unsigned AUTO_INCREMENT PRIMARY KEY, p decimal(10,2) NOT NULL DEFAULT 1.00, e enum('a','it''s') DEFAULT 'it''s', s varchar(30) CHARACTER SET latin1 DEFAULT 'a\\');
CREATE VIEW v AS SELECT id, p, p * 1.5 AS p15, e, s, 'lit' AS lit, NULL AS nothing, now(3) AS n3 FROM t;
