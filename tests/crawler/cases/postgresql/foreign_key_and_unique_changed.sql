-- Foreign key target, delete rule and a unique constraint changed
CREATE TABLE p (id integer PRIMARY KEY); CREATE TABLE q (id integer PRIMARY KEY); CREATE TABLE c (x integer CONSTRAINT fk REFERENCES p, u integer CONSTRAINT u1 UNIQUE);
