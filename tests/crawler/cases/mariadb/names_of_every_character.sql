-- Backticks, quotes, dots, percent signs, backslashes, control characters, blanks, placeholders and long names
CREATE TABLE `a``b.c %s %(x)s ?` (`x``y` int PRIMARY KEY, `d.e` int, `f"g'h` int, `i\\j\k` int, ` lead` int, `%` int, `:n {0}` int, `new
line` int, `tab	x` int, `é` int, `e__` int, `名前` int, UNIQUE KEY `u``q.x` (`d.e`));
CREATE TABLE aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg (aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg int, aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggh int);
CREATE TABLE `select` (`from` int, `where` text, `key` int DEFAULT 1, FOREIGN KEY (`from`) REFERENCES `a``b.c %s %(x)s ?` (`x``y`)); CREATE TABLE `t_1` (only_here int); CREATE TABLE tx1 (stray text); CREATE TABLE `таблица` (`столбец` int COMMENT 'комментарий'); CREATE TABLE `123` (`1e5` int, `1` int, `$x` int);
