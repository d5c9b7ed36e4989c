"""The way through SQLAlchemy's Inspector, tried on servers that have a better one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import CrawlError, Limits, Scope, Snapshot
from aide_crawler.dialects.generic import read
from aide_crawler.watch import Watch
from sqlalchemy.engine import make_url


def _read(url: str, scope: Scope | None = None) -> Snapshot:
    watch = Watch(Limits())
    try:
        return read(make_url(url), scope or Scope(), watch)
    finally:
        watch.close()


def test_postgresql_through_the_inspector(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE SCHEMA far; CREATE TABLE far.p (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text UNIQUE);"
        "CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES far.p ON DELETE CASCADE, n numeric(9,2) DEFAULT 0, "
        "g int GENERATED ALWAYS AS (id * 2) STORED, odd point); COMMENT ON TABLE c IS 'a child';"
        "CREATE VIEW v AS SELECT id FROM c; CREATE MATERIALIZED VIEW m AS SELECT id FROM c"
    )

    snapshot = _read(url)

    datasets = {dataset["name"]: dataset for dataset in snapshot.datasets}
    fields = {field["name"]: field for field in datasets["c"]["fields"]}
    assert {name: dataset["kind"] for name, dataset in datasets.items()} == {
        "c": "table",
        "m": "materialized_view",
        "p": "table",
        "v": "view",
    }
    assert datasets["c"]["comment"] == "a child"
    assert datasets["c"]["primary_key"]["columns"] == ["id"]
    assert datasets["c"]["foreign_keys"][0]["ref_schema"] == "far"
    assert datasets["c"]["foreign_keys"][0]["on_delete"] == "CASCADE"
    assert datasets["p"]["unique"][0]["columns"] == ["code"]
    assert datasets["p"]["fields"][0]["identity"]["kind"] == "always"
    assert fields["n"]["native_type"] == "NUMERIC(9, 2)"
    assert fields["n"]["parameters"] == {"precision": 9, "scale": 2}
    assert fields["g"]["generated"] == {"kind": "stored", "expression": "(id * 2)"}
    assert fields["odd"]["position"] == 5
    assert snapshot.coverage.complete
    assert [d["name"] for d in _read(url, Scope(tables=("far.*",))).datasets] == ["p"]


def test_sqlite_through_the_inspector(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR(10) NOT NULL, CONSTRAINT u UNIQUE (b))"
    )
    connection.close()

    snapshot = _read(f"sqlite:///{path}")

    assert [field["native_type"] for field in snapshot.datasets[0]["fields"]] == ["INTEGER", "VARCHAR(10)"]
    assert snapshot.datasets[0]["schema"] == "main"
    assert snapshot.datasets[0]["unique"][0]["columns"] == ["b"]


def test_its_troubles_are_plain(postgres_server: Any) -> None:
    url = make_url(postgres_server.url).set(database="not_there", password="S3cret")

    with pytest.raises(CrawlError) as raised:
        _read(url.render_as_string(hide_password=False))

    assert raised.value.code == "no_such_database"
    assert raised.value.__context__ is None
    assert "S3cret" not in str(raised.value)
