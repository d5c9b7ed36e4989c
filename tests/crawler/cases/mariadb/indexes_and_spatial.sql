-- Spatial types, fulltext index, unique key on a prefix
CREATE TABLE g (id int PRIMARY KEY, p point NOT NULL, po polygon, mp multipolygon, gc geometrycollection, ge geometry, t text, UNIQUE KEY u_pre (t(10)), FULLTEXT KEY ft (t), SPATIAL KEY sp (p));
