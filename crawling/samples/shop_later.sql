-- A quiet night: two small changes.

ALTER TABLE stock_recalls ADD COLUMN closed_on DATE;
ALTER TABLE sales_customers ADD COLUMN last_login_ip VARCHAR(45);
