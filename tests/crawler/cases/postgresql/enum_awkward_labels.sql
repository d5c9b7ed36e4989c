-- Enum labels with quotes, commas, spaces, braces, percent, and an empty label
CREATE TYPE awkward AS ENUM ('z', 'it''s', 'a,b', 'say "x"', '', '  ', ' {b}', '100%', 'ünï🙂', 'back\slash');
CREATE TABLE e (s awkward NOT NULL DEFAULT 'it''s');
