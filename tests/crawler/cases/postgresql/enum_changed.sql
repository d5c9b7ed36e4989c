-- Enum label added in the middle and one renamed
CREATE TYPE lvl AS ENUM ('low','high'); CREATE TABLE t (s lvl, hist lvl[], n integer);
