-- URL, shell and markup characters in names
CREATE TABLE "Test (UTC+0)" ("a&b=c#d?e" integer, ".." integer, "<b>x</b>" text, "a/../b;c" text, "1st" integer, "-x" integer, "col, two" integer, "$(id)" text, "a%2Fb" text);
