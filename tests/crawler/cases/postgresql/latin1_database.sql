-- Database encoded in LATIN1 with accented names, labels and comments
CREATE TYPE art AS ENUM (U&'hei\00DF', 'kalt'); CREATE TABLE U&"caf\00E9" (U&"gr\00F6\00DFe" numeric(5,2), art art DEFAULT U&'hei\00DF');
COMMENT ON TABLE U&"caf\00E9" IS U&'\00A3 \00BD';
