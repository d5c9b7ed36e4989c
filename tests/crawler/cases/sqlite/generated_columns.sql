-- Generated columns with strings, brackets, comments and commas in their expressions, hidden in other constraints
CREATE TABLE g (a INTEGER, "as" TEXT, b TEXT AS (a || ') AS (' || "as") STORED, c INT GENERATED ALWAYS AS (a /* comment, ) */ + 1) VIRTUAL NOT NULL UNIQUE, [d d] REAL AS (round(a, 2)), e AS (a), f TEXT CONSTRAINT gen GENERATED ALWAYS AS (substr("as", 1, 3)) STORED CHECK (f <> ')'), g INTEGER DEFAULT (abs(-5)), "G2" INT AS (a -- line, )
 * 2) STORED, h INTEGER CHECK (h IN (1, 2)) AS (CASE WHEN a > 0 THEN 1 ELSE 2 END), CHECK (cast(a AS TEXT) <> 'AS (1)'));
