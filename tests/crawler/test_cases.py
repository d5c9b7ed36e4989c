"""Every case on disk, crawled on the real servers, before and after its second step."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import Scope, inspect
from sqlalchemy.engine import make_url

from tests.crawler.comparison import Case, assert_same, cases


def _named(server: str) -> Any:
    return pytest.mark.parametrize("case", cases(server), ids=lambda case: case.name)


@_named("postgresql")
def test_a_postgresql_case_is_read_right(
    case: Case, postgres_database: Callable[..., str], postgres_server: Any
) -> None:
    encoding = case.expected.get("encoding")
    options = {"encoding": encoding, "lc_collate": "C", "lc_ctype": "C"} if encoding else {}
    url = make_url(postgres_database(case.sql, **options))
    reader = case.expected.get("connect_as")
    crawled = url.set(username=reader) if reader else url

    assert_same(case.expected["datasets"], inspect(crawled))

    if case.next_sql is not None:
        postgres_server.execute(case.next_sql, database=url.database)
        assert_same(case.expected["datasets_after"], inspect(crawled))


@_named("mariadb")
def test_a_mariadb_case_is_read_right(
    case: Case, mariadb_database: Callable[..., str], mariadb_server: Any
) -> None:
    url = mariadb_database(case.sql, name=case.schema, charset="utf8mb4", collation="utf8mb4_general_ci")

    assert_same(case.expected["datasets"], inspect(url), defaults_of_views=False)
    named = inspect(mariadb_server.url, scope=Scope(schemas=(case.schema,)))
    assert_same(case.expected["datasets"], named, defaults_of_views=False)

    if case.next_sql is not None:
        mariadb_server.execute(case.next_sql, database=case.schema)
        assert_same(case.expected["datasets_after"], inspect(url), defaults_of_views=False)


@_named("sqlite")
def test_a_sqlite_case_is_read_right(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "case.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(case.sql)
    connection.commit()

    assert_same(case.expected["datasets"], inspect(f"sqlite:///{path}"))

    if case.next_sql is not None:
        connection.executescript(case.next_sql)
        assert_same(case.expected["datasets_after"], inspect(f"sqlite:///{path}"))
    connection.close()
