-- integer to bigint, text to uuid, nullability flipped both ways
ALTER TABLE t ALTER n TYPE bigint, ALTER u TYPE uuid USING u::uuid, ALTER a SET NOT NULL, ALTER b DROP NOT NULL;
