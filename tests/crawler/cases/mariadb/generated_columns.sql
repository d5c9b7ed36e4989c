-- Virtual and stored generated columns, one NOT NULL on a string expression with commas and parentheses
CREATE TABLE g (a int, b varchar(20), v varchar(60) GENERATED ALWAYS AS (concat(b, ', (', a, ')')) VIRTUAL, st int AS (case when a = 1 then a*2 else 0 end) PERSISTENT COMMENT 'x, (y)');
