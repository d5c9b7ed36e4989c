-- Domain gains a check and NOT NULL; its users change although no ALTER TABLE ran
ALTER DOMAIN pct ADD CONSTRAINT r CHECK (VALUE BETWEEN 0 AND 100); ALTER DOMAIN pct SET NOT NULL;
