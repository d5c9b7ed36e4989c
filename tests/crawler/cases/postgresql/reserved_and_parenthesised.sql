-- Reserved words as names and a parent table named "(2)"
CREATE TABLE "(2)" (id integer PRIMARY KEY, ") REFERENCES x(" integer UNIQUE);
CREATE TABLE "select" ("order" integer REFERENCES "(2)"(id), "from" integer REFERENCES "(2)"(") REFERENCES x("), "user" text, "default" text DEFAULT 'default', "table" text);
