"""How much longer a snapshot takes than reading the catalogue in bulk with the plain driver; growth and memory."""

from __future__ import annotations

import json
import math
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from aide_crawler import inspect
from aide_crawler.dialects import connection as reading

from bench import floors, sources
from bench.measuring import in_turn, timed
from tests.servers import MariaDBServer, PostgresServer

TABLES = int(os.environ.get("BENCH_TABLES", "5000"))
FEWER = TABLES // 5


def main() -> None:
    server = PostgresServer()
    try:
        urls = {tables: _postgresql(server, tables) for tables in (FEWER, TABLES)}
        url = urls[TABLES]
        print(
            in_turn(timed(lambda: inspect(url)), timed(lambda: floors.postgresql(_plain(url)))).line(
                f"PostgreSQL, {TABLES} tables to a snapshot",
                "6 bulk statements",
                f"{_statements(url)} statements",
            )
        )
        few, many = (_child(urls[tables]) for tables in (FEWER, TABLES))
        growth = math.log(many["seconds"] / few["seconds"]) / math.log(TABLES / FEWER)
        print(f"{'growth of time with tables':<46} exponent {growth:.2f}   peak memory {many['mb']} MB")
    finally:
        server.close()
    few_tables = min(FEWER, 1000)
    _mariadb(few_tables)
    _sqlite(few_tables)


def _postgresql(server: PostgresServer, tables: int) -> str:
    name = f"bench_{tables}"
    url = server.create_database(name)
    for script in sources.postgresql(tables):
        server.execute(script, database=name)
    server.execute("VACUUM ANALYZE", database=name)
    return url


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")


def _statements(url: str) -> int:
    """How many statements one look takes."""
    counted = 0
    rows = reading.Connection.rows

    def counting(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal counted
        counted += 1
        return rows(self, *args, **options)

    reading.Connection.rows = counting  # type: ignore[method-assign]
    try:
        inspect(url)
    finally:
        reading.Connection.rows = rows  # type: ignore[method-assign]
    return counted


def _child(url: str) -> dict[str, Any]:
    """A look in a process of its own: the middle of three times, and the peak of its memory."""
    done = subprocess.run([sys.executable, __file__, url], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _look(url: str) -> None:
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        inspect(url)
        taken.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"seconds": sorted(taken)[1], "mb": peak}))


def _mariadb(tables: int) -> None:
    server = MariaDBServer()
    try:
        url = server.create_database("bench")
        for statement in sources.mariadb(tables):
            server.execute(statement, database="bench")
        ratio = in_turn(
            timed(lambda: inspect(url)), timed(lambda: floors.mariadb(port=server.port, database="bench"))
        )
    finally:
        server.close()
    print(ratio.line(f"MariaDB, {tables} tables to a snapshot", "8 bulk statements"))


def _sqlite(tables: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "bench.sqlite3")
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(";".join(sources.sqlite(tables)))
        ratio = in_turn(timed(lambda: inspect(f"sqlite:///{path}")), timed(lambda: floors.sqlite(path)))
    print(ratio.line(f"SQLite, {tables} tables to a snapshot", "4 pragma statements"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _look(sys.argv[1])
    else:
        main()
