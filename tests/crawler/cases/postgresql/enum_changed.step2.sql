-- Enum label added in the middle and one renamed
ALTER TYPE lvl ADD VALUE 'mid' BEFORE 'high'; ALTER TYPE lvl RENAME VALUE 'high' TO 'top';
