-- auto_increment on a non-primary column, composite key in another order
CREATE TABLE t (a int, b int, seq int unsigned AUTO_INCREMENT, PRIMARY KEY (b, a), KEY (seq), UNIQUE KEY (a, seq)) AUTO_INCREMENT=1000;
