-- bit and bit varying with and without length
CREATE TABLE bits (b bit DEFAULT B'1', b8 bit(8) DEFAULT B'00001111', vb bit varying, vb64 bit varying(64));
