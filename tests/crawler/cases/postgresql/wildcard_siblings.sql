-- Underscore and percent as LIKE wildcards between sibling tables
CREATE SCHEMA s_1; CREATE SCHEMA sx1;
CREATE TABLE t_1 (only_here integer); CREATE TABLE tx1 (stray text); CREATE TABLE "t%" (pct integer);
CREATE TABLE s_1.t_1 (mine integer); CREATE TABLE sx1.t_1 (theirs text);
