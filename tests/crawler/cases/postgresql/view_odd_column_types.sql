-- View columns without a clean name or type: ?column?, untyped NULL, row types
CREATE TABLE item (id integer, n numeric(7,3));
CREATE VIEW v_odd AS SELECT 'x', i AS r, ARRAY[i] AS rs, NULL AS nothing, count(*) OVER () FROM item i;
