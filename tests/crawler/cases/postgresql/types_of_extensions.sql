-- Types of extensions in another schema, bare, with modifiers, in arrays, under domains and with collations
CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE EXTENSION ltree; CREATE EXTENSION cube; CREATE EXTENSION seg; CREATE EXTENSION isn; CREATE EXTENSION lo;
CREATE DOMAIN mail AS ext.citext COLLATE "C" CHECK (VALUE ~ '@');
CREATE TABLE t (c ext.citext NOT NULL DEFAULT 'A', cs ext.citext[], h ext.hstore DEFAULT '"a"=>"1"', p ltree DEFAULT 'a.b', ps ltree[], lq lquery, lt ltxtquery, cu cube, sg seg, i13 isbn13, l lo, m mail, ms mail[], UNIQUE (c));
