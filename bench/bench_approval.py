"""How much longer the first approval takes than COPY of the rows that it writes, into the same tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import psycopg
from psycopg import sql

from bench.measuring import in_turn, process
from bench.own import make_source
from tests.servers import PostgresServer

TABLES = int(os.environ.get("BENCH_TABLES", "5000"))
ROUNDS = 3
Rows = dict[str, tuple[list[str], list[tuple[Any, ...]]]]
WRITTEN = (
    "registry_dataset", "registry_typeinstance", "registry_datasetschema", "registry_field", "registry_fieldbinding",
    "crawling_decision", "audit_auditentry",
)  # fmt: skip


def main() -> None:
    server = PostgresServer()
    try:
        source = make_source(server, TABLES)
        noted = server.create_database("noted")
        process([sys.executable, "bench/own.py", "prepare", noted, source])()
        rows: Rows = {}

        def figure() -> float:
            url = _clone(server, "figure")
            done = subprocess.run(
                [sys.executable, "bench/own.py", "approve", url], capture_output=True, text=True, check=True
            )
            if not rows:
                rows.update(_new_rows(_plain(noted), _plain(url)))
            return float(done.stdout)

        def floor() -> float:
            return _copy(rows, _plain(_clone(server, "floor")))

        ratio = in_turn(figure, floor, rounds=ROUNDS)
        count = sum(len(each) for _, each in rows.values())
        print(ratio.line(f"first approval of {TABLES} tables", "COPY", f"{count} rows"))
    finally:
        server.close()


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")


def _clone(server: PostgresServer, name: str) -> str:
    server.drop_database(name)
    server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE noted").format(sql.Identifier(name)))
    return _plain(server.url).rsplit("/", 1)[0] + f"/{name}"


def _new_rows(before: str, after: str) -> Rows:
    found: Rows = {}
    with psycopg.connect(before) as old, psycopg.connect(after) as new:
        for table in WRITTEN:
            name = sql.Identifier(table)
            last = old.execute(sql.SQL("SELECT coalesce(max(id), 0) FROM {}").format(name)).fetchone()
            cursor = new.execute(sql.SQL("SELECT * FROM {} WHERE id > %s ORDER BY id").format(name), last)
            columns = [each.name for each in cursor.description or ()]
            found[table] = (columns, [tuple(map(_as_text, row)) for row in cursor.fetchall()])
    return found


def _as_text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _copy(rows: Rows, dsn: str) -> float:
    with psycopg.connect(dsn) as connection:
        began = time.perf_counter()
        for table, (columns, values) in rows.items():
            statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
                sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
            )
            with connection.cursor().copy(statement) as copy:
                for row in values:
                    copy.write_row(row)
        connection.commit()
        return time.perf_counter() - began


if __name__ == "__main__":
    main()
