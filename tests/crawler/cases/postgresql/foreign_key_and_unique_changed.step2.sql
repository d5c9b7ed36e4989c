-- Foreign key target, delete rule and a unique constraint changed
ALTER TABLE c DROP CONSTRAINT fk, DROP CONSTRAINT u1; ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (x) REFERENCES q ON DELETE CASCADE;
