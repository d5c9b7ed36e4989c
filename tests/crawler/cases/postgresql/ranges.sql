-- Range, multirange and a user-defined range type
CREATE TYPE floatspan AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TABLE rg (i4 int4range, i8 int8range, n numrange, d daterange, ts tsrange, tz tstzrange, mr tstzmultirange, f floatspan, fa floatspan[], EXCLUDE USING gist (tz WITH &&));
