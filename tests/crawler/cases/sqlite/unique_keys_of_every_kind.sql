-- Unique constraints and indexes: conflict clauses, collations, partial ones, expressions, order, twins and quoted names
CREATE TABLE u (a INT UNIQUE ON CONFLICT REPLACE, b TEXT COLLATE NOCASE CONSTRAINT "b's" UNIQUE, c INT, d INT, e TEXT, "f,g" INT, UNIQUE (c, d), CONSTRAINT named UNIQUE (d DESC, e COLLATE RTRIM), UNIQUE ("f,g"), UNIQUE (a));
CREATE UNIQUE INDEX part ON u (c) WHERE d > 0 AND e <> 'WHERE'; CREATE UNIQUE INDEX expr ON u (lower(e), c, a + 1); CREATE UNIQUE INDEX "ix ""q"" WHERE" ON u ("f,g" DESC, e COLLATE NOCASE); CREATE UNIQUE INDEX both ON u (substr(e, 1, 2) DESC) WHERE c IS NOT NULL; CREATE INDEX plain ON u (e); CREATE UNIQUE INDEX "twin" ON u (c, d); CREATE UNIQUE INDEX conc ON u ((c || ',' || d), "e"); CREATE UNIQUE INDEX /* WHERE */ odd ON u -- WHERE x
 (d) -- end
 ; CREATE TABLE pk (a TEXT, b TEXT, PRIMARY KEY (a, b) ON CONFLICT FAIL, UNIQUE (b, a));
