-- Composite, self, cross-schema and crossed-order foreign keys
CREATE SCHEMA far; CREATE TABLE far.p (a integer, b integer, code text UNIQUE, PRIMARY KEY (a, b));
CREATE TABLE child (id integer PRIMARY KEY, x integer, y integer, code text CONSTRAINT fk_code REFERENCES far.p(code), parent_id integer CONSTRAINT fk_self REFERENCES child(id) ON DELETE CASCADE, CONSTRAINT fk_cross FOREIGN KEY (y, x) REFERENCES far.p (b, a) ON UPDATE CASCADE);
