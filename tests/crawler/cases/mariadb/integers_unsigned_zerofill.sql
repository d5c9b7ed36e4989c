-- Unsigned, zerofill, display widths, tinyint(1), boolean
CREATE TABLE ints (bu bigint unsigned NOT NULL, z int(5) zerofill, flag boolean DEFAULT true, t tinyint, tu tinyint(3) unsigned, m mediumint, s smallint(4) unsigned, i int);
