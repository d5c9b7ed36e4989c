-- Columns added, one with default, one generated
ALTER TABLE t ADD COLUMN d TEXT DEFAULT 'x'; ALTER TABLE t ADD COLUMN g INTEGER AS (id * 2);
