-- Lengths, precisions, dimensions, fields, collations and modifiers changed, each alone
CREATE TABLE t (l varchar(10), n numeric(8,2), n2 numeric(8,2), t timestamp(3), tz timestamptz, iv interval day, c text, b bit(4), a varchar(5)[], ch char(2), x varchar(9), same varchar(7));
