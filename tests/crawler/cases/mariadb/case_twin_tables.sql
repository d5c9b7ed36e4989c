-- Tables that differ only in case, keys between mixed-case names
CREATE TABLE Orders (OrderId int PRIMARY KEY, Total decimal(9,2)); CREATE TABLE orders (id int PRIMARY KEY);
CREATE TABLE Line (OrderID int, CONSTRAINT Line_fk FOREIGN KEY (OrderID) REFERENCES Orders (OrderId));
