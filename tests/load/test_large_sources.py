"""Sources with much in them: the time that looking at them may take."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from aide_crawler import inspect

from tests.servers import PostgresServer

pytestmark = pytest.mark.load
TABLES = 2_000
COLUMNS = 25


def script(tables: int) -> str:
    columns = ", ".join(f"column_{number} varchar({number + 1})" for number in range(COLUMNS))
    return ";\n".join(
        f"CREATE TABLE table_{number} (id integer PRIMARY KEY, {columns})" for number in range(tables)
    )


def test_two_thousand_tables_of_postgresql_are_read_in_seconds(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database()
    name = url.rsplit("/", 1)[1]
    for start in range(0, TABLES, 200):
        part = script(start + 200).split(";\n")[start:]
        postgres_server.execute(";\n".join(part), database=name)
    began = time.monotonic()
    snapshot = inspect(url)
    seconds = time.monotonic() - began
    assert len(snapshot.datasets) == TABLES
    assert sum(len(each["fields"]) for each in snapshot.datasets) == TABLES * (COLUMNS + 1)
    assert seconds < 30


def test_two_thousand_tables_of_sqlite_are_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "large.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"BEGIN; {script(TABLES)}; COMMIT;")
    began = time.monotonic()
    snapshot = inspect(f"sqlite:///{path}")
    seconds = time.monotonic() - began
    assert len(snapshot.datasets) == TABLES
    assert seconds < 60
