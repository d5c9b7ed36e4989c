"""The way through SQLAlchemy's Inspector, tried on servers that have a better one."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import CrawlError, Limits, Scope, Snapshot
from aide_crawler.connection_url import URL
from aide_crawler.dialects.generic import read
from aide_crawler.dialects.generic_documents import read_type, unknown_types
from aide_crawler.watch import Watch
from sqlalchemy.dialects import mssql, oracle
from sqlalchemy.engine import make_url
from sqlalchemy.types import NullType


def _read(url: str, scope: Scope | None = None) -> Snapshot:
    watch = Watch(Limits())
    try:
        return read(URL.parse(url), scope or Scope(), watch)
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
    assert fields["odd"]["native_type"] == "point"
    assert snapshot.coverage.complete
    assert [d["name"] for d in _read(url, Scope(tables=("far.*",))).datasets] == ["p"]


def test_types_that_sqlalchemy_does_not_know_keep_their_names(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE TYPE pair AS (x int, y int);"
        "CREATE TABLE a (place point, one pair); CREATE TABLE b (place polygon, t text)"
    )

    natives = {
        (dataset["name"], field["name"]): field["native_type"]
        for dataset in _read(url).datasets
        for field in dataset["fields"]
    }

    assert natives == {
        ("a", "place"): "point",
        ("a", "one"): "pair",
        ("b", "place"): "polygon",
        ("b", "t"): "TEXT",
    }


def test_unique_indexes_through_the_inspector(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE TABLE t (a int, b text, c text, UNIQUE (c)); CREATE UNIQUE INDEX full_ix ON t (b, a);"
        "CREATE UNIQUE INDEX part ON t (a) WHERE b IS NOT NULL; CREATE UNIQUE INDEX expr ON t (lower(b), a)"
    )

    uniques = {unique.pop("name"): unique for unique in _read(url).datasets[0]["unique"]}

    assert uniques == {
        "expr": {"columns": ["a"], "kind": "index", "expressions": ["lower(b)"]},
        "full_ix": {"columns": ["b", "a"], "kind": "index"},
        "part": {"columns": ["a"], "kind": "index", "predicate": "(b IS NOT NULL)"},
        "t_c_key": {"columns": ["c"], "kind": "constraint"},
    }


def test_mariadb_through_the_inspector(mariadb_database: Callable[..., str]) -> None:
    url = mariadb_database(
        "CREATE TABLE p (id int unsigned AUTO_INCREMENT PRIMARY KEY, e enum('a','it''s') DEFAULT 'a',"
        "where_ point, n decimal(9,2) NOT NULL, d datetime(3), UNIQUE KEY u (n, d)) COMMENT='parents';"
        "CREATE TABLE c (p int unsigned, CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE)"
    )

    datasets = {dataset["name"]: dataset for dataset in _read(url, Scope(tables=("p", "c"))).datasets}

    fields = {field["name"]: field for field in datasets["p"]["fields"]}
    assert datasets["p"]["comment"] == "parents"
    assert datasets["p"]["primary_key"]["columns"] == ["id"]
    assert datasets["p"]["unique"][0]["columns"] == ["n", "d"]
    assert datasets["c"]["foreign_keys"][0]["ref_table"] == "p"
    assert datasets["c"]["foreign_keys"][0]["on_delete"] == "CASCADE"
    assert fields["e"]["parameters"] == {"values": ["a", "it's"]}
    assert fields["n"]["parameters"] == {"precision": 9, "scale": 2}
    assert fields["where_"]["native_type"] == "point"


@pytest.mark.parametrize("dialect", [mssql.dialect(), oracle.dialect()], ids=lambda dialect: dialect.name)
def test_every_type_of_a_dialect_has_a_spelling(dialect: Any) -> None:
    for kind in set(dialect.ischema_names.values()):
        native, name, _ = read_type(kind, dialect=dialect)
        assert native
        assert name
        assert name.upper() not in ("NULL", "NULLTYPE")


def test_types_are_spelled_as_their_servers_spell_them() -> None:
    sql_server, ora = mssql.dialect(), oracle.dialect()

    def told(kind: Any, dialect: Any) -> tuple[str, dict[str, Any]]:
        native, _, parameters = read_type(kind, dialect=dialect)
        return native, parameters

    assert told(mssql.NVARCHAR(20), sql_server) == ("NVARCHAR(20)", {"length": 20})
    assert told(mssql.NVARCHAR(), sql_server) == ("NVARCHAR(max)", {})
    assert told(mssql.DATETIMEOFFSET(3), sql_server) == ("DATETIMEOFFSET(3)", {"precision": 3})
    assert told(mssql.REAL(), sql_server) == ("REAL", {})
    assert told(mssql.DECIMAL(9, 2), sql_server) == ("DECIMAL(9, 2)", {"precision": 9, "scale": 2})
    assert told(oracle.VARCHAR(10), ora) == ("VARCHAR2(10 CHAR)", {"length": 10})
    assert told(oracle.NUMBER(9, -2), ora) == ("NUMBER(9, -2)", {"precision": 9, "scale": -2})
    assert told(oracle.TIMESTAMP(timezone=True), ora) == ("TIMESTAMP WITH TIME ZONE", {})
    assert told(oracle.CLOB, ora) == ("CLOB", {})
    assert read_type(NullType, dialect=ora, unknown="SDO_GEOMETRY") == ("SDO_GEOMETRY", "SDO_GEOMETRY", {})


def test_types_are_taken_from_warnings() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for text in (
            "Did not recognize type 'hierarchyid' of column 'it's'",
            "Did not recognize type 'phone' (user type) or 'x' (base type) of column 'p'",
            "Something else",
        ):
            warnings.warn(text, stacklevel=1)

    assert unknown_types(heard) == {"it's": {"hierarchyid"}, "p": {"phone"}}


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
