-- A small online shop, made up for AIDE: what it sells to whom (sales_*) and where the goods lie (stock_*).
-- Names, addresses and numbers in here belong to nobody.

-- Goods -------------------------------------------------------------------------------------------

CREATE TABLE stock_categories (        -- The tree of the shop's shelves
    category_id   INTEGER PRIMARY KEY,
    parent_id     INTEGER REFERENCES stock_categories (category_id) ON DELETE SET NULL,
    name          VARCHAR(80) NOT NULL,
    slug          VARCHAR(80) NOT NULL,
    position      SMALLINT NOT NULL DEFAULT 0,
    CONSTRAINT stock_categories_slug_once UNIQUE (slug)
);

CREATE TABLE stock_suppliers (
    supplier_id   INTEGER PRIMARY KEY,
    name          VARCHAR(120) NOT NULL,
    contact_name  VARCHAR(120),        -- A person, not a department
    email         VARCHAR(254),
    phone         VARCHAR(32),
    street        VARCHAR(160),
    postal_code   VARCHAR(12),
    city          VARCHAR(80),
    country_code  CHAR(2) NOT NULL DEFAULT 'DE',
    iban          VARCHAR(34),         -- Where we pay
    tax_number    VARCHAR(20),
    rating        NUMERIC(3, 2) CHECK (rating BETWEEN 0 AND 5),
    created_at    TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE stock_products (
    product_id    INTEGER PRIMARY KEY,
    sku           VARCHAR(24) NOT NULL,
    name          VARCHAR(120) NOT NULL,
    description   TEXT,
    brand         VARCHAR(60),
    net_price     NUMERIC(10, 2) NOT NULL CHECK (net_price >= 0),
    vat_rate      NUMERIC(4, 2) NOT NULL DEFAULT 19.00,
    gross_price   NUMERIC(10, 2) GENERATED ALWAYS AS (round(net_price * (1 + vat_rate / 100), 2)) STORED,
    weight_grams  INTEGER,
    is_active     BOOLEAN NOT NULL DEFAULT 1,
    launched_on   DATE,
    created_at    TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT stock_products_sku_once UNIQUE (sku)
);

CREATE TABLE stock_product_categories (
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id) ON DELETE CASCADE,
    category_id   INTEGER NOT NULL REFERENCES stock_categories (category_id) ON DELETE CASCADE,
    PRIMARY KEY (product_id, category_id)
) WITHOUT ROWID;

CREATE TABLE stock_product_images (
    image_id      INTEGER PRIMARY KEY,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id) ON DELETE CASCADE,
    file_name     VARCHAR(200) NOT NULL,
    alt_text      VARCHAR(250),
    thumbnail     BLOB,
    position      SMALLINT NOT NULL DEFAULT 0
);

CREATE TABLE stock_price_history (     -- One row for each time that a price held
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    valid_from    DATE NOT NULL,
    valid_until   DATE,
    net_price     NUMERIC(10, 2) NOT NULL,
    changed_by    VARCHAR(60),
    PRIMARY KEY (product_id, valid_from)
);

CREATE TABLE stock_supplier_products (
    supplier_id   INTEGER NOT NULL REFERENCES stock_suppliers (supplier_id),
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    supplier_sku  VARCHAR(40) NOT NULL,
    net_cost      NUMERIC(10, 4) NOT NULL,
    lead_days     SMALLINT NOT NULL DEFAULT 7,
    PRIMARY KEY (supplier_id, product_id),
    UNIQUE (supplier_id, supplier_sku)
);

CREATE TABLE stock_warehouses (
    warehouse_id  INTEGER PRIMARY KEY,
    code          VARCHAR(8) NOT NULL UNIQUE,
    name          VARCHAR(80) NOT NULL,
    city          VARCHAR(80) NOT NULL,
    latitude      DOUBLE PRECISION,
    longitude     DOUBLE PRECISION,
    opened_on     DATE
);

CREATE TABLE stock_bins (
    bin_id        INTEGER PRIMARY KEY,
    warehouse_id  INTEGER NOT NULL REFERENCES stock_warehouses (warehouse_id),
    label         VARCHAR(16) NOT NULL,
    max_weight_kg NUMERIC(7, 2),
    UNIQUE (warehouse_id, label)
);

CREATE TABLE stock_levels (            -- What lies where, now
    bin_id        INTEGER NOT NULL REFERENCES stock_bins (bin_id),
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    quantity      INTEGER NOT NULL DEFAULT 0 CHECK (quantity >= 0),
    reserved      INTEGER NOT NULL DEFAULT 0,
    free          INTEGER GENERATED ALWAYS AS (quantity - reserved) VIRTUAL,
    counted_at    TIMESTAMP,
    PRIMARY KEY (bin_id, product_id)
);

CREATE TABLE stock_movements (
    movement_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    from_bin_id   INTEGER REFERENCES stock_bins (bin_id),
    to_bin_id     INTEGER REFERENCES stock_bins (bin_id),
    quantity      INTEGER NOT NULL,
    reason        VARCHAR(16) NOT NULL DEFAULT 'sale' CHECK (reason IN ('sale', 'receipt', 'move', 'loss')),
    moved_by      VARCHAR(60),         -- The worker's log-in name
    moved_at      TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE stock_purchase_orders (
    purchase_order_id INTEGER PRIMARY KEY,
    supplier_id   INTEGER NOT NULL REFERENCES stock_suppliers (supplier_id),
    order_number  VARCHAR(20) NOT NULL UNIQUE,
    status        VARCHAR(12) NOT NULL DEFAULT 'draft',
    ordered_on    DATE,
    expected_on   DATE,
    net_total     NUMERIC(12, 2)
);

CREATE TABLE stock_purchase_order_lines (
    purchase_order_id INTEGER NOT NULL REFERENCES stock_purchase_orders (purchase_order_id) ON DELETE CASCADE,
    line_number   SMALLINT NOT NULL,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    quantity      INTEGER NOT NULL,
    net_cost      NUMERIC(10, 4) NOT NULL,
    PRIMARY KEY (purchase_order_id, line_number)
);

-- Customers and sales -----------------------------------------------------------------------------

CREATE TABLE sales_customers (
    customer_id   INTEGER PRIMARY KEY,
    customer_number VARCHAR(12) NOT NULL,
    title         VARCHAR(10),
    first_name    VARCHAR(60) NOT NULL,
    last_name     VARCHAR(60) NOT NULL,
    email         VARCHAR(254) NOT NULL,
    email_verified BOOLEAN NOT NULL DEFAULT 0,
    phone         VARCHAR(32),
    fax           VARCHAR(32),         -- Nobody has filled this since 2009
    birth_date    DATE,
    gender        CHAR(1),
    vat_id        VARCHAR(16),         -- Companies only
    password_hash VARCHAR(100),
    note          TEXT,                -- Whatever the hotline wrote down
    created_at    TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_login_at TIMESTAMP,
    CONSTRAINT sales_customers_number_once UNIQUE (customer_number),
    CONSTRAINT sales_customers_email_once UNIQUE (email)
);

CREATE TABLE sales_customer_addresses (
    address_id    INTEGER PRIMARY KEY,
    customer_id   INTEGER NOT NULL REFERENCES sales_customers (customer_id) ON DELETE CASCADE,
    kind          VARCHAR(10) NOT NULL DEFAULT 'shipping',
    recipient     VARCHAR(120) NOT NULL,
    street        VARCHAR(160) NOT NULL,
    postal_code   VARCHAR(12) NOT NULL,
    city          VARCHAR(80) NOT NULL,
    country_code  CHAR(2) NOT NULL DEFAULT 'DE'
);

CREATE TABLE sales_consents (          -- What a customer agreed to, and when that ended
    customer_id   INTEGER NOT NULL REFERENCES sales_customers (customer_id) ON DELETE CASCADE,
    purpose       VARCHAR(20) NOT NULL,
    given_at      TIMESTAMP NOT NULL,
    withdrawn_at  TIMESTAMP,
    ip_address    VARCHAR(45),
    user_agent    VARCHAR(300),
    PRIMARY KEY (customer_id, purpose, given_at)
);

CREATE TABLE sales_loyalty_accounts (
    customer_id   INTEGER PRIMARY KEY REFERENCES sales_customers (customer_id),
    card_number   VARCHAR(20) NOT NULL UNIQUE,
    points        INTEGER NOT NULL DEFAULT 0,
    tier          VARCHAR(10) NOT NULL DEFAULT 'basic'
);

CREATE TABLE sales_carts (
    cart_id       CHAR(36) NOT NULL PRIMARY KEY,
    customer_id   INTEGER REFERENCES sales_customers (customer_id) ON DELETE SET NULL,
    session_id    VARCHAR(64),
    created_at    TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at    TIMESTAMP
);

CREATE TABLE sales_cart_items (
    cart_id       CHAR(36) NOT NULL REFERENCES sales_carts (cart_id) ON DELETE CASCADE,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    quantity      SMALLINT NOT NULL DEFAULT 1,
    PRIMARY KEY (cart_id, product_id)
);

CREATE TABLE sales_vouchers (
    voucher_id    INTEGER PRIMARY KEY,
    code          VARCHAR(40) NOT NULL UNIQUE,
    percent_off   NUMERIC(5, 2),
    amount_off    NUMERIC(10, 2),
    valid_until   DATE,
    max_uses      INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE sales_orders (
    order_id      INTEGER PRIMARY KEY,
    order_number  VARCHAR(16) NOT NULL UNIQUE,
    customer_id   INTEGER NOT NULL REFERENCES sales_customers (customer_id),
    address_id    INTEGER REFERENCES sales_customer_addresses (address_id),
    voucher_id    INTEGER REFERENCES sales_vouchers (voucher_id),
    status        VARCHAR(12) NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'paid', 'shipped', 'closed', 'cancelled')),
    currency      CHAR(3) NOT NULL DEFAULT 'EUR',
    net_total     NUMERIC(12, 2) NOT NULL DEFAULT 0,
    gross_total   NUMERIC(12, 2) NOT NULL DEFAULT 0,
    customer_note TEXT,
    placed_at     TIMESTAMP NOT NULL
);

CREATE TABLE sales_order_lines (
    order_id      INTEGER NOT NULL REFERENCES sales_orders (order_id) ON DELETE CASCADE,
    line_number   SMALLINT NOT NULL,
    product_id    INTEGER NOT NULL REFERENCES stock_products (product_id),
    quantity      INTEGER NOT NULL CHECK (quantity > 0),
    net_price     NUMERIC(10, 2) NOT NULL,
    vat_rate      NUMERIC(4, 2) NOT NULL,
    PRIMARY KEY (order_id, line_number)
);

CREATE TABLE sales_payments (
    payment_id    INTEGER PRIMARY KEY,
    order_id      INTEGER NOT NULL REFERENCES sales_orders (order_id),
    method        VARCHAR(12) NOT NULL,
    amount        NUMERIC(12, 2) NOT NULL,
    card_last_four CHAR(4),
    account_holder VARCHAR(120),
    iban          VARCHAR(34),
    provider_reference VARCHAR(64),
    paid_at       TIMESTAMP
);

CREATE TABLE sales_shipments (
    shipment_id   INTEGER PRIMARY KEY,
    order_id      INTEGER NOT NULL REFERENCES sales_orders (order_id),
    warehouse_id  INTEGER REFERENCES stock_warehouses (warehouse_id),
    carrier       VARCHAR(30) NOT NULL,
    tracking_code VARCHAR(40),
    shipped_at    TIMESTAMP,
    delivered_at  TIMESTAMP
);

CREATE TABLE sales_returns (
    return_id     INTEGER PRIMARY KEY,
    order_id      INTEGER NOT NULL,
    line_number   SMALLINT NOT NULL,
    quantity      INTEGER NOT NULL,
    reason        VARCHAR(200),
    refunded      NUMERIC(12, 2),
    received_at   TIMESTAMP,
    FOREIGN KEY (order_id, line_number) REFERENCES sales_order_lines (order_id, line_number)
);

CREATE TABLE sales_support_tickets (
    ticket_id     INTEGER PRIMARY KEY,
    customer_id   INTEGER REFERENCES sales_customers (customer_id),
    channel       VARCHAR(10) NOT NULL,
    sender_email  VARCHAR(254),
    subject       VARCHAR(200) NOT NULL,
    body          TEXT,
    opened_at     TIMESTAMP NOT NULL,
    closed_at     TIMESTAMP
);

CREATE INDEX sales_orders_by_customer ON sales_orders (customer_id, placed_at);
CREATE INDEX sales_customers_by_name ON sales_customers (last_name, first_name);
CREATE INDEX stock_movements_by_product ON stock_movements (product_id, moved_at);
CREATE UNIQUE INDEX sales_addresses_one_billing ON sales_customer_addresses (customer_id) WHERE kind = 'billing';

CREATE VIEW sales_order_totals AS      -- What each order is worth
SELECT o.order_id, o.order_number, o.placed_at, count(*) AS line_count, sum(l.quantity * l.net_price) AS net_total
FROM sales_orders o JOIN sales_order_lines l ON l.order_id = o.order_id
GROUP BY o.order_id, o.order_number, o.placed_at;

CREATE VIEW sales_customer_overview AS
SELECT c.customer_id, c.first_name || ' ' || c.last_name AS full_name, c.email, count(o.order_id) AS order_count,
       max(o.placed_at) AS last_order_at
FROM sales_customers c LEFT JOIN sales_orders o ON o.customer_id = c.customer_id
GROUP BY c.customer_id;

CREATE VIEW stock_on_hand AS
SELECT p.product_id, p.sku, p.name, w.code AS warehouse, sum(s.quantity) AS quantity
FROM stock_products p
JOIN stock_levels s ON s.product_id = p.product_id
JOIN stock_bins b ON b.bin_id = s.bin_id
JOIN stock_warehouses w ON w.warehouse_id = b.warehouse_id
GROUP BY p.product_id, w.code;

-- Rows --------------------------------------------------------------------------------------------

INSERT INTO stock_categories (category_id, parent_id, name, slug, position) VALUES
    (1, NULL, 'Kitchen', 'kitchen', 1), (2, 1, 'Knives', 'knives', 1), (3, 1, 'Pans', 'pans', 2),
    (4, NULL, 'Garden', 'garden', 2), (5, 4, 'Seeds', 'seeds', 1);

INSERT INTO stock_suppliers (supplier_id, name, contact_name, email, phone, street, postal_code, city, iban, rating) VALUES
    (1, 'Klingenhof', 'Rosa Beispiel', 'rosa@klingenhof.example', '+49 30 0000001', 'Am Rand 1', '00001', 'Musterstadt', 'DE00 0000 0000 0000 0000 01', 4.5),
    (2, 'Pfannenwerk', 'Timo Muster', 'timo@pfannenwerk.example', '+49 30 0000002', 'Am Rand 2', '00002', 'Musterstadt', 'DE00 0000 0000 0000 0000 02', 3.9),
    (3, 'Green Thumb Seeds', 'Ivy Sample', 'ivy@greenthumb.example', '+44 20 0000003', '3 Far Lane', 'ZZ1 1ZZ', 'Sampleton', NULL, 4.8);

INSERT INTO stock_products (product_id, sku, name, brand, net_price, vat_rate, weight_grams, launched_on) VALUES
    (1, 'KN-0020', 'Chef''s knife 20 cm', 'Klingenhof', 58.82, 19.00, 210, '2023-03-01'),
    (2, 'KN-0009', 'Paring knife 9 cm', 'Klingenhof', 21.01, 19.00, 70, '2023-03-01'),
    (3, 'PN-0028', 'Iron pan 28 cm', 'Pfannenwerk', 67.14, 19.00, 2100, '2022-10-15'),
    (4, 'SE-0101', 'Tomato seeds, 20 grains', 'Green Thumb', 2.79, 7.00, 5, '2024-01-10'),
    (5, 'SE-0102', 'Basil seeds, 200 grains', 'Green Thumb', 2.33, 7.00, 5, '2024-01-10');

INSERT INTO stock_product_categories (product_id, category_id) VALUES (1, 2), (2, 2), (3, 3), (4, 5), (5, 5);
INSERT INTO stock_product_images (image_id, product_id, file_name, alt_text) VALUES (1, 1, 'kn-0020.jpg', 'A long knife'), (2, 3, 'pn-0028.jpg', 'A black pan');
INSERT INTO stock_price_history (product_id, valid_from, net_price, changed_by) SELECT product_id, launched_on, net_price, 'import' FROM stock_products;
INSERT INTO stock_supplier_products (supplier_id, product_id, supplier_sku, net_cost) VALUES (1, 1, 'CK20', 31.5), (1, 2, 'PK9', 9.2), (2, 3, 'IP28', 35.0), (3, 4, 'TOM', 0.9), (3, 5, 'BAS', 0.7);
INSERT INTO stock_warehouses (warehouse_id, code, name, city, latitude, longitude, opened_on) VALUES (1, 'NORTH', 'North hall', 'Musterstadt', 52.5, 13.4, '2019-05-01'), (2, 'SOUTH', 'South hall', 'Sampleton', 48.1, 11.5, '2021-09-01');
INSERT INTO stock_bins (bin_id, warehouse_id, label, max_weight_kg) VALUES (1, 1, 'A-01', 250), (2, 1, 'A-02', 250), (3, 2, 'K-01', 80);
INSERT INTO stock_levels (bin_id, product_id, quantity, reserved) VALUES (1, 1, 40, 2), (1, 2, 120, 0), (2, 3, 15, 1), (3, 4, 900, 30), (3, 5, 700, 0);
INSERT INTO stock_movements (product_id, to_bin_id, quantity, reason, moved_by) SELECT product_id, bin_id, quantity, 'receipt', 'hall-1' FROM stock_levels;
INSERT INTO stock_purchase_orders (purchase_order_id, supplier_id, order_number, status, ordered_on, net_total) VALUES (1, 1, 'PO-2024-001', 'received', '2024-02-01', 1260.00);
INSERT INTO stock_purchase_order_lines VALUES (1, 1, 1, 40, 31.5);

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
INSERT INTO sales_customers (customer_id, customer_number, first_name, last_name, email, email_verified, phone, birth_date, created_at)
SELECT i, printf('C%06d', i),
       substr('Ada  Ben  Cleo Dora Emil Fay  Gus  Hana ', 1 + (i % 8) * 5, 5), printf('Sample-%02d', i),
       printf('customer%02d@mail.example', i), i % 3 <> 0, printf('+49 170 %07d', i),
       date('1960-01-01', printf('+%d days', i * 311)), datetime('2023-01-01', printf('+%d hours', i * 200))
FROM n;
UPDATE sales_customers SET first_name = trim(first_name);

INSERT INTO sales_customer_addresses (customer_id, kind, recipient, street, postal_code, city)
SELECT customer_id, 'billing', first_name || ' ' || last_name, printf('Long Street %d', customer_id), printf('%05d', customer_id * 7), 'Musterstadt' FROM sales_customers;
INSERT INTO sales_consents (customer_id, purpose, given_at, ip_address) SELECT customer_id, 'newsletter', created_at, '192.0.2.' || customer_id FROM sales_customers WHERE email_verified;
INSERT INTO sales_loyalty_accounts (customer_id, card_number, points) SELECT customer_id, printf('L%012d', customer_id * 7919), customer_id * 10 FROM sales_customers WHERE customer_id % 4 = 0;
INSERT INTO sales_vouchers (voucher_id, code, percent_off, valid_until, max_uses) VALUES (1, 'SPRING-24', 10, '2024-05-31', 500), (2, 'WELCOME', 5, NULL, 100000);

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
INSERT INTO sales_orders (order_id, order_number, customer_id, address_id, status, placed_at)
SELECT i, printf('O-%06d', i), 1 + i % 40, 1 + i % 40, 'closed', datetime('2024-01-01', printf('+%d hours', i * 30)) FROM n;
INSERT INTO sales_order_lines (order_id, line_number, product_id, quantity, net_price, vat_rate)
SELECT o.order_id, 1, p.product_id, 1 + o.order_id % 3, p.net_price, p.vat_rate
FROM sales_orders o JOIN stock_products p ON p.product_id = 1 + o.order_id % 5;
UPDATE sales_orders SET net_total = (SELECT sum(quantity * net_price) FROM sales_order_lines l WHERE l.order_id = sales_orders.order_id);
UPDATE sales_orders SET gross_total = round(net_total * 1.19, 2);
INSERT INTO sales_payments (order_id, method, amount, card_last_four, account_holder, paid_at)
SELECT order_id, 'card', gross_total, printf('%04d', order_id), 'A. Sample', placed_at FROM sales_orders;
INSERT INTO sales_shipments (order_id, warehouse_id, carrier, tracking_code, shipped_at)
SELECT order_id, 1 + order_id % 2, 'Parcel & Co', printf('TR%010d', order_id), datetime(placed_at, '+1 day') FROM sales_orders;
INSERT INTO sales_returns (order_id, line_number, quantity, reason, refunded) VALUES (7, 1, 1, 'Too heavy', 67.14);
INSERT INTO sales_support_tickets (customer_id, channel, sender_email, subject, body, opened_at) VALUES
    (7, 'mail', 'customer07@mail.example', 'Pan too heavy', 'I would like to send it back. My number is +49 170 0000007.', '2024-02-03 09:00:00');
