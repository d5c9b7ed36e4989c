-- Defaults added, dropped, changed, and written in another way with the same meaning
CREATE TABLE t (a integer DEFAULT 1, b integer, c integer DEFAULT 1, d text DEFAULT 'x', e timestamptz DEFAULT now(), f text DEFAULT 'now()', g numeric DEFAULT 1, h varchar(5) DEFAULT 'y', i boolean DEFAULT true, j date DEFAULT CURRENT_DATE, k integer DEFAULT NULL);
