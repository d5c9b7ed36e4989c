-- A table made anew under another name, filled, and put in the place of the old one, sequence and all
CREATE TABLE t (id serial PRIMARY KEY, v text UNIQUE, at timestamptz DEFAULT now()); CREATE TABLE c (t integer REFERENCES t);
