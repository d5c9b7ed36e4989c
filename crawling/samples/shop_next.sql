-- What the shop's developers did to it since: the next crawl finds every kind of change in here.

ALTER TABLE sales_customers RENAME COLUMN phone TO mobile_phone;
ALTER TABLE sales_customers DROP COLUMN fax;
ALTER TABLE sales_customers ADD COLUMN preferred_language VARCHAR(5);
ALTER TABLE stock_bins RENAME TO stock_locations;
ALTER TABLE stock_products ADD COLUMN country_of_origin CHAR(2);

CREATE TABLE stock_recalls (           -- Goods that came back by order of an authority
    recall_id     INTEGER PRIMARY KEY,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    reason        TEXT NOT NULL,
    announced_on  DATE NOT NULL
);

DROP TABLE sales_loyalty_accounts;

-- SQLite changes a type or NOT NULL only by building the table again.
PRAGMA legacy_alter_table = ON;

-- The carrier's name may be longer or missing; tracking codes got shorter.
CREATE TABLE new_shipments (
    shipment_id   INTEGER PRIMARY KEY,
    order_id      INTEGER NOT NULL REFERENCES sales_orders (order_id),
    warehouse_id  INTEGER REFERENCES stock_warehouses (warehouse_id),
    carrier       VARCHAR(60),
    tracking_code VARCHAR(24),
    shipped_at    TIMESTAMP,
    delivered_at  TIMESTAMP
);
INSERT INTO new_shipments SELECT * FROM sales_shipments;
DROP TABLE sales_shipments;
ALTER TABLE new_shipments RENAME TO sales_shipments;

-- Shorter codes, larger amounts, dates as text, another default.
CREATE TABLE new_vouchers (
    voucher_id    INTEGER PRIMARY KEY,
    code          VARCHAR(20) NOT NULL UNIQUE,
    percent_off   NUMERIC(5, 2),
    amount_off    NUMERIC(12, 2),
    valid_until   TEXT,
    max_uses      INTEGER NOT NULL DEFAULT 100
);
INSERT INTO new_vouchers SELECT * FROM sales_vouchers;
DROP TABLE sales_vouchers;
ALTER TABLE new_vouchers RENAME TO sales_vouchers;

-- Two of a supplier's articles may bear one number now; deliveries take longer.
CREATE TABLE new_supplier_products (
    supplier_id   INTEGER NOT NULL REFERENCES stock_suppliers (supplier_id),
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    supplier_sku  VARCHAR(40) NOT NULL,
    net_cost      NUMERIC(10, 4) NOT NULL,
    lead_days     SMALLINT NOT NULL DEFAULT 14,
    PRIMARY KEY (supplier_id, product_id)
);
INSERT INTO new_supplier_products SELECT * FROM stock_supplier_products;
DROP TABLE stock_supplier_products;
ALTER TABLE new_supplier_products RENAME TO stock_supplier_products;

-- The opening day became required.
CREATE TABLE new_warehouses (
    warehouse_id  INTEGER PRIMARY KEY,
    code          VARCHAR(8) NOT NULL UNIQUE,
    name          VARCHAR(80) NOT NULL,
    city          VARCHAR(80) NOT NULL,
    latitude      DOUBLE PRECISION,
    longitude     DOUBLE PRECISION,
    opened_on     DATE NOT NULL
);
INSERT INTO new_warehouses SELECT * FROM stock_warehouses;
DROP TABLE stock_warehouses;
ALTER TABLE new_warehouses RENAME TO stock_warehouses;

PRAGMA legacy_alter_table = OFF;
