-- Comments with quotes, line breaks and umlauts; the pseudo comment of a view
CREATE TABLE t (a int COMMENT 'it''s 50% "x"\nline 2 \\ end größe', b int COMMENT '', c int DEFAULT 1 COMMENT 'DEFAULT 7 NOT NULL') COMMENT='table; PRIMARY KEY (`a`), COMMENT=''no''';
CREATE VIEW v AS SELECT a, c FROM t;
