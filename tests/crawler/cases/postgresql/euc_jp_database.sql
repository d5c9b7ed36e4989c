-- Names, labels, defaults and comments of a database in EUC_JP
CREATE TYPE "種類" AS ENUM ('大', '小'); CREATE TABLE "商品" ("名前" varchar(10) DEFAULT '無名', "種類" "種類" DEFAULT '大', "ｶﾅ" text UNIQUE); COMMENT ON TABLE "商品" IS '表でない〜'; COMMENT ON COLUMN "商品"."名前" IS '名前です';
