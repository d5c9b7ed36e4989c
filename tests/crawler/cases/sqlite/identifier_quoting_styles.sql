-- Four quoting styles, line break, percent, dot, emoji and the empty name
CREATE TABLE "my.table %s" ([a b] TEXT UNIQUE, "c`d" TEXT, "e""f" INTEGER, 'g''h' REAL, "i
j" BLOB, "🙂" TEXT, "" TEXT);
