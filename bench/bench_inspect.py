"""How much longer a look at a PostgreSQL database takes than reading its catalogue with one bare statement.

The floor is one query that lists every column with its type. Both read the same 1,000 tables of 20 columns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import psycopg
from aide_crawler import inspect

from tests.servers import PostgresServer

TABLES, COLUMNS, ROUNDS = 1_000, 20, 5
FLOOR = """
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""


def seconds(action: Callable[[], int]) -> float:
    """The median time of some rounds; every round must see all columns."""
    taken = []
    for _round in range(ROUNDS):
        began = time.perf_counter()
        seen = action()
        taken.append(time.perf_counter() - began)
        assert seen == TABLES * COLUMNS, seen
    return statistics.median(taken)


def main() -> None:
    server = PostgresServer()
    try:
        url = server.create_database("bench")
        columns = ", ".join(f"column_{number} varchar({number + 1})" for number in range(COLUMNS))
        for start in range(0, TABLES, 100):
            made = "; ".join(f"CREATE TABLE t{number} ({columns})" for number in range(start, start + 100))
            server.execute(made, database="bench")
        server.execute("ANALYZE", database="bench")

        def floor() -> int:
            with psycopg.connect(url.replace("+psycopg", "")) as connection:
                return len(connection.execute(FLOOR).fetchall())

        def ours() -> int:
            return sum(len(dataset["fields"]) for dataset in inspect(url).datasets)

        lowest, taken = seconds(floor), seconds(ours)
    finally:
        server.close()
    print(f"floor: one statement   {lowest:7.3f} s")
    print(f"aide_crawler.inspect   {taken:7.3f} s   {taken / lowest:5.1f} times the floor")


if __name__ == "__main__":
    main()
