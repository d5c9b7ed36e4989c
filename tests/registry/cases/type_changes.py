"""Changes of one column's type, labelled by hand: which type holds every value of which other.

In each table a line says: every value of the type on the left is, unchanged, a value of each type on the right. What
a table does not list, for any two of its types, is a no. BACKWARD asks whether the old type's values are values
of the new one; FORWARD asks the same the other way round; FULL asks both.
"""

from __future__ import annotations

from collections.abc import Iterator

POSTGRESQL = """
smallint         > integer | bigint | numeric(5,0) | numeric(10,0) | numeric(12,2) | numeric(14,2) | numeric(21,2)
smallint         > numeric | real | double precision
integer          > bigint | numeric(10,0) | numeric(12,2) | numeric(14,2) | numeric(21,2) | numeric | double precision
bigint           > numeric(21,2) | numeric
numeric(4,0)     > numeric(5,0) | numeric(10,0) | numeric(12,2) | numeric(14,2) | numeric(21,2) | numeric
numeric(5,0)     > numeric(10,0) | numeric(12,2) | numeric(14,2) | numeric(21,2) | numeric
numeric(10,0)    > numeric(12,2) | numeric(14,2) | numeric(21,2) | numeric
numeric(12,2)    > numeric(14,2) | numeric(21,2) | numeric
numeric(14,2)    > numeric(21,2) | numeric
numeric(21,2)    > numeric
numeric          >
real             > double precision
double precision >
varchar(10)      > varchar(20) | varchar | text
varchar(20)      > varchar | text
varchar          > text
text             > varchar
char(5)          >
date             >
time(3)          > time
time             >
timestamp(3)     > timestamp
timestamp        >
timestamptz      >
interval(2)      > interval
interval         >
integer[]        > bigint[]
bigint[]         >
varbit(8)        > varbit
varbit           >
boolean          >
bytea            >
jsonb            >
uuid             >
"""

MARIADB = """
tinyint          > smallint | int | bigint | decimal(10,0) | decimal(12,2) | decimal(20,0) | float | double
smallint         > int | bigint | decimal(10,0) | decimal(12,2) | decimal(20,0) | float | double
int              > bigint | decimal(10,0) | decimal(12,2) | decimal(20,0) | double
int unsigned     > bigint | bigint unsigned | decimal(10,0) | decimal(12,2) | decimal(20,0) | double
bigint           > decimal(20,0)
bigint unsigned  > decimal(20,0)
decimal(10,0)    > decimal(12,2) | decimal(20,0)
decimal(12,2)    >
decimal(20,0)    >
float            > double
double           >
varchar(10)      > varchar(60) | varchar(100) | tinytext | text
varchar(60)      > varchar(100) | tinytext | text
varchar(100)     > text
tinytext         > text
text             >
varbinary(10)    > blob
blob             >
date             >
datetime         > datetime(3)
datetime(3)      >
timestamp        >
enum('a','b')    > enum('a','b','c')
enum('a','b','c') >
json             >
"""

SQLITE = """
INTEGER          > NUMERIC | ANY
REAL             > NUMERIC | ANY
NUMERIC          > ANY
DECIMAL(10,2)    > DECIMAL(12,2) | NUMERIC | ANY
DECIMAL(12,2)    > NUMERIC | ANY
VARCHAR(10)      > VARCHAR(20) | TEXT
VARCHAR(20)      > TEXT
TEXT             >
BLOB             > ANY
ANY              >
"""

TABLES = {"postgresql": POSTGRESQL, "mariadb": MARIADB, "sqlite": SQLITE}


def holding(flavor: str) -> dict[str, frozenset[str]]:
    """By type the others that hold every value of it."""
    found: dict[str, set[str]] = {}
    for line in TABLES[flavor].strip().splitlines():
        old, _, others = line.partition(" >")
        found.setdefault(old.strip(), set()).update(
            each.strip() for each in others.split("|") if each.strip()
        )
    unknown = {each for others in found.values() for each in others} - set(found)
    assert not unknown, unknown
    return {old: frozenset(others) for old, others in found.items()}


def pairs(flavor: str) -> Iterator[tuple[str, str, bool, bool]]:
    """(old, new, BACKWARD, FORWARD) of any two different types of a table."""
    table = holding(flavor)
    for old, others in table.items():
        for new in table:
            if old != new:
                yield old, new, new in others, old in table[new]
