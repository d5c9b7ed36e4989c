-- Recursive, aliased, secured and updatable views; a default and comments on view columns; a view over nothing
CREATE TABLE base (id integer PRIMARY KEY, up integer, v varchar(12) NOT NULL DEFAULT 'd', n numeric(8,3) NOT NULL, k char(4)[], dropped text);
CREATE RECURSIVE VIEW chain (id, depth) AS SELECT id, 0 FROM base WHERE up IS NULL UNION ALL SELECT b.id, c.depth + 1 FROM base b JOIN chain c ON b.up = c.id;
CREATE VIEW named ("The Id", "v v", sum) WITH (security_barrier, security_invoker) AS SELECT id, v, n * 2 FROM base; ALTER VIEW named ALTER COLUMN "v v" SET DEFAULT 'from view';
COMMENT ON VIEW named IS 'named view'; COMMENT ON COLUMN named."The Id" IS 'its id';
CREATE VIEW typed AS SELECT v::varchar(3), n::numeric(4), k, n AS n2, 'x'::char(2) AS c, now()::timestamp(0) AS t, NULL::integer AS nil, '{}'::text[] AS ta, 1.5 AS num, B'101' AS bits, interval '1' day AS iv, id > 1 AS b FROM base;
ALTER TABLE base DROP COLUMN dropped; CREATE VIEW nothing AS SELECT; CREATE VIEW vals AS VALUES (1, 'a'), (2, 'b');
CREATE VIEW renamed AS SELECT id AS a, v AS b FROM base; ALTER VIEW renamed RENAME COLUMN a TO "A"; CREATE VIEW "on top" AS SELECT * FROM renamed;
