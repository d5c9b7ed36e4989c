"""How many statements a look takes: the same however many tables there are, and few."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from aide_crawler import inspect
from aide_crawler.dialects.connection import Connection
from aide_crawler.watch import Watch

FEW, MANY = 5, 300
MANY_FOR_MARIADB = 60  # it writes a file for each


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Look at the database of a URL, which must have so many tables; the number of its statements."""

    def count(url: str, *, tables: int) -> int:
        made: list[Connection] = []
        make = Connection.__init__

        def noted(self: Connection, raw: object, url: object, watch: Watch) -> None:
            make(self, raw, url, watch)  # type: ignore[arg-type]
            made.append(self)

        with monkeypatch.context() as patched:
            patched.setattr(Connection, "__init__", noted)
            snapshot = inspect(url)
        assert sum(each["kind"] == "table" for each in snapshot.datasets) == tables
        return sum(each.statements for each in made)

    return count


def postgresql(tables: int) -> Iterator[str]:
    """Tables in eight schemas, with all that has a statement of its own."""
    yield from (
        f"CREATE SCHEMA s{schema}; CREATE TYPE s{schema}.mood AS ENUM ('a', 'b')" for schema in range(8)
    )
    for n in range(tables):
        name = f"s{n % 8}.t{n}"
        before = f"REFERENCES s{(n - 1) % 8}.t{n - 1}" if n else ""
        yield f"CREATE TABLE {name} (id serial PRIMARY KEY, before int {before}, v text[] UNIQUE, m s{n % 8}.mood)"
        yield f"CREATE UNIQUE INDEX ON {name} (lower(v[1])) WHERE id > 0; COMMENT ON COLUMN {name}.v IS 'several'"
        if n % 5 == 0:
            yield f"CREATE VIEW s{n % 8}.v{n} AS SELECT id FROM {name}"


def mariadb(tables: int) -> Iterator[str]:
    for n in range(tables):
        before = f", FOREIGN KEY (before_id) REFERENCES t{n - 1} (id)" if n else ""
        yield f"CREATE TABLE t{n} (id int AUTO_INCREMENT PRIMARY KEY, before_id int UNIQUE, j json{before})"
        if n % 5 == 0:
            yield f"CREATE VIEW v{n} AS SELECT id FROM t{n}"
    yield "ALTER TABLE t0 COMMENT 'first'"


def sqlite(tables: int) -> Iterator[str]:
    for n in range(tables):
        before = f" REFERENCES t{n - 1}" if n else ""
        yield f"CREATE TABLE t{n} (id integer PRIMARY KEY AUTOINCREMENT, before int{before}, name text UNIQUE)"
        yield f"CREATE UNIQUE INDEX i{n} ON t{n} (lower(name)) WHERE id > 0"
        if n % 5 == 0:
            yield f"CREATE VIEW v{n} AS SELECT id FROM t{n}"


def test_postgresql_is_read_in_ten_statements(
    postgres_database: Callable[..., str], statements: Callable[..., int]
) -> None:
    few, many = (
        statements(postgres_database("; ".join(postgresql(tables))), tables=tables) for tables in (FEW, MANY)
    )
    assert few == many == 10  # and BEGIN, which the driver sends


def test_mariadb_is_read_in_eleven_statements(
    mariadb_database: Callable[..., str], statements: Callable[..., int]
) -> None:
    few, many = (
        statements(mariadb_database("; ".join(mariadb(tables))), tables=tables)
        for tables in (FEW, MANY_FOR_MARIADB)
    )
    assert few == many == 11  # and one more where tables are partitioned


def test_sqlite_is_read_in_eight_statements(tmp_path: Path, statements: Callable[..., int]) -> None:
    counts = []
    for tables in (FEW, MANY):
        path = tmp_path / f"{tables}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("; ".join(["BEGIN", *sqlite(tables), "COMMIT"]))
        counts.append(statements(f"sqlite:///{path}", tables=tables))
    assert counts == [8, 8]
