-- datetime, timestamp and time with fractional seconds, year, ON UPDATE
CREATE TABLE t (d0 datetime, d6 datetime(6), ts timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), ti time(2), y year, dt date);
