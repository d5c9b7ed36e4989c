-- Names, checks and comments of a database in Windows-1251
CREATE DOMAIN "Код" AS varchar(5) CONSTRAINT "не пусто" CHECK (VALUE <> 'нет'); CREATE TABLE "Товары" ("Код" "Код" PRIMARY KEY, "Цена €" numeric(9,2) DEFAULT 0, "№" integer); CREATE UNIQUE INDEX "уник" ON "Товары" ("№") WHERE "Код" <> 'тест'; COMMENT ON COLUMN "Товары"."№" IS 'номер «строки» ё';
