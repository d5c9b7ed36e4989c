-- Quoted mixed-case table next to its lower-case twin
CREATE TABLE "Orders" ("Id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "grossTotal" numeric(12,2));
CREATE TABLE orders (id integer PRIMARY KEY, gross_total text);
