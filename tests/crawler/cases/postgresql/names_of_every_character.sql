-- Quotes, backslashes, control characters, placeholders, blanks at the ends and invisible characters in names
CREATE SCHEMA "\s""q'";
CREATE TABLE "\s""q'"." t " (" lead" integer, "trail " integer, " " integer, "tab	x" integer, "two
lines" integer);
CREATE TABLE "%s %(a)s :b $1 ?" ("%" integer, "%%" integer, "{0}" text, ":c" text, "back\slash\" text, "it's" text, """" text, "`" text, "[x]" text);
CREATE TABLE invisible (U&"a\200Bb" integer, "ab" integer, U&"\FEFFab" integer, U&"ab\00A0" integer, U&"\202Eab" integer, U&"\0001" integer, U&"\007F" integer, U&"\FFFD" integer);
