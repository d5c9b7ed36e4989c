-- Cyrillic, CJK, emoji and two spellings of the same accented letter
CREATE TABLE "таблица" ("名前🙂" text, U&"\00E9" integer, U&"e\0301" text, "ß" boolean);
COMMENT ON TABLE "таблица" IS 'Комментарий 🙂';
