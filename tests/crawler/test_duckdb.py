"""DuckDB files: their tables, keys and views, and what is no such file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from aide_crawler import CrawlError, Scope, Snapshot, inspect


@pytest.fixture
def crawled(tmp_path: Path) -> Callable[..., Snapshot]:
    """Make a file from a script and crawl it."""

    def crawl(script: str, **options: Any) -> Snapshot:
        path = tmp_path / "file.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(script)
        return inspect(f"duckdb:///{path}", **options)

    return crawl


def _by_name(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    return {f"{dataset['schema']}.{dataset['name']}": dataset for dataset in snapshot.datasets}


def test_types_defaults_and_generated_columns(crawled: Callable[..., Snapshot]) -> None:
    snapshot = crawled(
        "CREATE TYPE mood AS ENUM ('a', 'it''s, so'); CREATE SEQUENCE counter;"
        "CREATE TABLE t (id BIGINT PRIMARY KEY DEFAULT nextval('counter'), n DECIMAL(9,2) NOT NULL DEFAULT 1.5,"
        "h HUGEINT, l INTEGER[], fixed INTEGER[3], s STRUCT(x INTEGER, y VARCHAR[]), m MAP(VARCHAR, INTEGER),"
        "e mood, tz TIMESTAMPTZ, g INTEGER GENERATED ALWAYS AS (id * 2) VIRTUAL, CHECK (n > 0));"
        "COMMENT ON TABLE t IS 'it''s t'; COMMENT ON COLUMN t.n IS 'amount'"
    )

    table = _by_name(snapshot)["main.t"]
    fields = {field["name"]: field for field in table["fields"]}
    assert snapshot.coverage.complete
    assert snapshot.dialect == "duckdb"
    assert table["comment"] == "it's t"
    assert table["primary_key"]["columns"] == ["id"]
    assert fields["id"]["default"] == "nextval('counter')"
    assert fields["id"]["nullable"] is False
    assert fields["n"]["native_type"] == "DECIMAL(9,2)"
    assert fields["n"]["parameters"] == {"precision": 9, "scale": 2}
    assert (fields["n"]["default"], fields["n"]["comment"]) == ("1.5", "amount")
    assert fields["fixed"]["native_type"] == "INTEGER[3]"
    assert fields["s"]["native_type"] == "STRUCT(x INTEGER, y VARCHAR[])"
    assert fields["e"]["parameters"] == {"values": ["a", "it's, so"]}
    assert fields["tz"]["native_type"] == "TIMESTAMP WITH TIME ZONE"
    assert fields["g"]["generated"]["kind"] == "virtual"
    assert fields["g"]["default"] is None


def test_keys_names_and_views(crawled: Callable[..., Snapshot]) -> None:
    snapshot = crawled(
        "CREATE SCHEMA far; CREATE TABLE far.p (x INTEGER); "
        "CREATE TABLE p (a INTEGER, b INTEGER, code VARCHAR UNIQUE, PRIMARY KEY (b, a));"
        'CREATE TABLE c ("X x" INTEGER, "Y" INTEGER, FOREIGN KEY ("X x", "Y") REFERENCES p (b, a));'
        'CREATE TABLE "odd.x" ("from" INTEGER, "a""b" INTEGER, "it\'s, x" INTEGER);'
        'CREATE UNIQUE INDEX plain ON "odd.x" ("it\'s, x", "a""b", "from");'
        'CREATE UNIQUE INDEX computed ON "odd.x" (abs("from"), "a""b"); CREATE INDEX no_key ON p (a);'
        "CREATE VIEW v AS SELECT code FROM p; CREATE TEMP TABLE passing (a INTEGER)"
    )

    datasets = _by_name(snapshot)
    assert {name: dataset["kind"] for name, dataset in datasets.items()} == {
        "far.p": "table",
        "main.c": "table",
        "main.odd.x": "table",
        "main.p": "table",
        "main.v": "view",
    }
    assert datasets["main.p"]["primary_key"]["columns"] == ["b", "a"]
    assert [unique["columns"] for unique in datasets["main.p"]["unique"]] == [["code"]]
    assert datasets["main.c"]["foreign_keys"][0]["columns"] == ["X x", "Y"]
    assert datasets["main.c"]["foreign_keys"][0]["ref_columns"] == ["b", "a"]
    computed, plain = datasets["main.odd.x"]["unique"]
    assert computed["columns"] == ['a"b']
    assert len(computed["expressions"]) == 1
    assert plain == {"name": "plain", "columns": ["it's, x", 'a"b', "from"], "kind": "index"}
    assert datasets["main.v"]["fields"][0]["native_type"] == "VARCHAR"


def test_a_scope_applies(crawled: Callable[..., Snapshot]) -> None:
    snapshot = crawled(
        "CREATE SCHEMA far; CREATE TABLE far.p (x INTEGER); CREATE TABLE t (a INTEGER)",
        scope=Scope(schemas=("far", "not_there")),
    )

    assert list(_by_name(snapshot)) == ["far.p"]
    assert [schema.name for schema in snapshot.coverage.schemas] == ["far", "not_there"]
    assert snapshot.coverage.complete


def test_what_is_no_database_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.duckdb"
    garbage.write_text("not a database at all " * 500, encoding="utf-8")
    missing = tmp_path / "missing.duckdb"

    for url, code in (
        (f"duckdb:///{garbage}", "open_failed"),
        (f"duckdb:///{missing}", "open_failed"),
        ("duckdb:///:memory:", "bad_url"),
    ):
        with pytest.raises(CrawlError) as raised:
            inspect(url)
        assert raised.value.code == code
        assert raised.value.__context__ is None
    assert not missing.exists()


def test_without_its_driver_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.duckdb"
    duckdb.connect(str(path)).close()
    monkeypatch.setitem(sys.modules, "duckdb", None)

    with pytest.raises(CrawlError) as raised:
        inspect(f"duckdb:///{path}")

    assert raised.value.code == "missing_driver"
