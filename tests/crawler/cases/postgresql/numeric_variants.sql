-- numeric without parameters, with precision only, with negative scale and with scale above precision
CREATE TABLE nums (bare numeric, p5 numeric(5), p10 decimal(10,2), neg numeric(3,-2), small numeric(3,5), big numeric(1000), neg2 numeric(1000,-1000), maxs numeric(1000,1000));
