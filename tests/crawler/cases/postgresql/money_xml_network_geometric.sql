-- money, xml, network, geometric and text-search types
CREATE TABLE mx (mo money DEFAULT 0, x xml, j json, jb jsonb, by bytea, ip inet, net cidr, ma macaddr, m8 macaddr8, p point, l line, ls lseg, bx box, pa path, po polygon, ci circle, tv tsvector, tq tsquery, u uuid DEFAULT gen_random_uuid());
