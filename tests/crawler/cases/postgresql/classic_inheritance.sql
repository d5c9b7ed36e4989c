-- Table inheritance, also from two parents
CREATE TABLE city (name text PRIMARY KEY, pop integer DEFAULT 0 CHECK (pop >= 0));
CREATE TABLE audited (changed_at timestamptz(3) NOT NULL DEFAULT now());
CREATE TABLE capital (state char(2) NOT NULL) INHERITS (city);
CREATE TABLE "both" (extra jsonb) INHERITS (city, audited);
