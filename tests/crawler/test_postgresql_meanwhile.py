"""What other sessions of PostgreSQL do while it is crawled: open transactions, locks, drops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from aide_crawler import Limits, inspect
from sqlalchemy.engine import make_url

from tests.crawler.postgres_sessions import before, dataset_of, fields_of, session


def test_uncommitted_changes_of_others_are_not_seen(postgres_database: Callable[..., str]) -> None:
    url = postgres_database("CREATE TABLE t (a int)")
    with session(url) as other:
        other.execute("CREATE TABLE pending (x int)")
        other.execute("ALTER TABLE t RENAME COLUMN a TO renamed")
        other.execute("ALTER TABLE t ADD COLUMN b text")

        snapshot = inspect(url)

        other.rollback()
    assert snapshot.coverage.complete
    assert [dataset["name"] for dataset in snapshot.datasets] == ["t"]
    assert list(fields_of(snapshot, "t")) == ["a"]


def test_locked_tables_are_read_or_fail_alone(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE TABLE plain (a int DEFAULT 7, b text UNIQUE); CREATE TABLE free (a int DEFAULT 1);"
        "CREATE TABLE computed (a int, g int GENERATED ALWAYS AS (a + 1) STORED);"
        "CREATE TABLE partly (a int); CREATE UNIQUE INDEX ON partly (a) WHERE a > 0;"
        "CREATE TABLE cut (k int) PARTITION BY RANGE (k); CREATE VIEW v AS SELECT a FROM plain"
    )
    unlocked = inspect(url)
    with session(url) as other:
        other.execute("LOCK TABLE plain, computed, partly, cut IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()

        snapshot = inspect(url)

        assert time.monotonic() - began < 4
    assert [dataset["name"] for dataset in snapshot.datasets] == ["free", "plain", "v"]
    assert dataset_of(snapshot, "plain") == dataset_of(unlocked, "plain")
    assert {item.name for item in snapshot.coverage.failed} == {"computed", "cut", "partly"}
    assert snapshot.coverage.listed == 6
    assert snapshot.coverage.read == 3


def test_a_table_locked_during_the_crawl_fails_alone(
    postgres_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_database(
        "CREATE TABLE locked (a int, g int GENERATED ALWAYS AS (a + 1) STORED); CREATE TABLE free (a int DEFAULT 1)"
    )
    with session(url) as other:
        before(monkeypatch, "columns", lambda: other.execute("LOCK TABLE locked IN ACCESS EXCLUSIVE MODE"))

        snapshot = inspect(url, limits=Limits(lock_seconds=0.5))

    assert [dataset["name"] for dataset in snapshot.datasets] == ["free"]
    assert [item.name for item in snapshot.coverage.failed] == ["locked"]


def test_a_table_dropped_during_the_crawl_is_whole_or_failed(
    postgres_database: Callable[..., str], postgres_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_database(
        "CREATE TABLE stays (a int); CREATE TABLE goes (b int DEFAULT 3, c text);"
        "CREATE TABLE leaves (d int, e int GENERATED ALWAYS AS (d + 1) STORED)"
    )
    database = make_url(url).database
    before(
        monkeypatch, "columns", lambda: postgres_server.execute("DROP TABLE goes, leaves", database=database)
    )

    snapshot = inspect(url)

    assert list(fields_of(snapshot, "stays")) == ["a"]
    assert list(fields_of(snapshot, "goes")) == ["b", "c"]
    assert [item.name for item in snapshot.coverage.failed] == ["leaves"]


@pytest.mark.parametrize("part", ["columns", "defaults", "indexes"])
def test_what_others_drop_meanwhile_is_read_anew_or_failed(
    postgres_database: Callable[..., str], postgres_server: Any, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    url = postgres_database(
        "CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';"
        "CREATE TABLE t (a int DEFAULT f(1), b int); CREATE UNIQUE INDEX by_f ON t (f(b));"
        "CREATE TABLE stays (a int DEFAULT 5)"
    )
    before(
        monkeypatch,
        part,
        lambda: postgres_server.execute("DROP FUNCTION f CASCADE", database=make_url(url).database),
    )

    snapshot = inspect(url)

    assert fields_of(snapshot, "stays")["a"]["default"] == "5"
    if part == "indexes":
        assert [item.name for item in snapshot.coverage.failed] == ["t"]
    else:
        assert snapshot.coverage.complete
        assert fields_of(snapshot, "t")["a"]["default"] is None
        assert dataset_of(snapshot, "t")["unique"] == []
