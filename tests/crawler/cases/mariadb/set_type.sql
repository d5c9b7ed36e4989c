-- SET columns with awkward members and a default of several members
CREATE TABLE s (f set('a','it''s','c','with space') NOT NULL DEFAULT 'a,c', g set('1','2','3','4') CHARACTER SET latin1);
