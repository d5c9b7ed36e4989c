-- Definition text with comments, odd spacing, keywords as names and brackets inside strings, as a select and after changes
CREATE TABLE/* a */"t" -- b
 ( /* AUTOINCREMENT */ id /*x*/ INTEGER /*y*/ PRIMARY KEY /* z */ , "autoincrement" TEXT DEFAULT 'AUTOINCREMENT' , k TEXT CHECK ( k <> 'PRIMARY KEY AUTOINCREMENT' ) ,--last
 l INT ) ; CREATE TABLE made AS SELECT id, k COLLATE NOCASE AS kk FROM t; CREATE TABLE seq(id INTEGER CONSTRAINT pk PRIMARY KEY ASC ON CONFLICT ABORT AUTOINCREMENT); CREATE TABLE r (a, b); ALTER TABLE r RENAME COLUMN b TO "b ""new"""; ALTER TABLE r ADD COLUMN c DEFAULT ('(' || ')') CHECK (c <> ','); CREATE TABLE "x y"("a" INT,"b" INT,PRIMARY KEY("b","a"));
