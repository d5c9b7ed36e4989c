-- time and timestamp types with precision 0 to 6, with and without time zone
CREATE TABLE times (d date, ts timestamp, ts0 timestamp(0), ts6 timestamp(6), tz timestamptz, tz3 timestamptz(3), ti time, ti2 time(2), tiz timetz, tiz0 timetz(0));
