-- Column renamed
ALTER TABLE person RENAME COLUMN mail TO email;
