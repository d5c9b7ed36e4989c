-- A database whose public schema is gone, with an empty schema and types in the others
DROP SCHEMA public; CREATE SCHEMA empty_one; CREATE SCHEMA app; CREATE SCHEMA "Types";
CREATE DOMAIN "Types".code AS char(3); CREATE TYPE app.pair AS (a "Types".code, b integer[]);
CREATE TABLE app.t (c "Types".code PRIMARY KEY, p app.pair, ps app.pair[]);
