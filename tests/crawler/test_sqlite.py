"""SQLite beyond the cases: broken things, definition texts, locked and read-only files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import CrawlError, Limits, Scope, Snapshot, inspect
from aide_crawler.dialects.sqlite_ddl import (
    generated_expressions,
    index_predicate,
    index_terms,
    is_autoincrement,
)


@pytest.fixture
def crawled(tmp_path: Path) -> Callable[..., Snapshot]:
    """Make a file from a script and crawl it."""

    def crawl(script: str, **how: Any) -> Snapshot:
        path = tmp_path / "it's 100% a #file.db"
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()
        return inspect(f"sqlite:///{path}", **how)

    return crawl


def _by_name(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    return {dataset["name"]: dataset for dataset in snapshot.datasets}


def test_broken_views_stay_views_and_what_cannot_be_read_fails(crawled: Callable[..., Snapshot]) -> None:
    snapshot = crawled(
        "CREATE TABLE gone (z int); CREATE TABLE t (a int); CREATE VIEW good AS SELECT a, 1 FROM t;"
        "CREATE VIEW bad AS SELECT z FROM gone; DROP TABLE gone;"
        "CREATE VIRTUAL TABLE r USING rtree (id, low, high);"
        "PRAGMA writable_schema = on; "
        "UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE r USING nomodule (a)' WHERE name = 'r'"
    )

    datasets = _by_name(snapshot)
    assert [field["name"] for field in datasets["good"]["fields"]] == ["a", "1"]
    assert datasets["bad"]["kind"] == "view"
    assert datasets["bad"]["attributes"] == {"broken": True}
    assert [item.name for item in snapshot.coverage.skipped] == ["bad"]
    assert [(item.name, "nomodule" in item.reason) for item in snapshot.coverage.failed] == [("r", True)]


def test_keys_of_every_kind(crawled: Callable[..., Snapshot]) -> None:
    datasets = _by_name(
        crawled(
            "CREATE TABLE alias (id INTEGER PRIMARY KEY); CREATE TABLE desc_key (id INTEGER PRIMARY KEY DESC, x);"
            "CREATE TABLE int_key (id INT PRIMARY KEY); CREATE TABLE strict_key (k TEXT PRIMARY KEY) STRICT;"
            "CREATE TABLE bare (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;"
            "CREATE TABLE u (a TEXT, b TEXT, UNIQUE (b, a));"
            "CREATE UNIQUE INDEX u_expr ON u (lower(a) DESC, b); CREATE UNIQUE INDEX u_part ON u (a) WHERE b > ';';"
            "CREATE TABLE refs (x REFERENCES ALIAS, y REFERENCES Bare (B))"
        )
    )

    def key(name: str) -> list[tuple[str, bool, str | None]]:
        return [
            (field["name"], field["nullable"], (field["identity"] or {}).get("kind"))
            for field in datasets[name]["fields"]
            if field["primary_key"]
        ]

    assert key("alias") == [("id", False, "rowid_alias")]
    assert key("desc_key") == [("id", True, None)]
    assert key("int_key") == [("id", True, None)]
    assert key("strict_key") == [("k", False, None)]
    assert key("bare") == [("a", False, None), ("b", False, None)]
    assert datasets["bare"]["primary_key"]["columns"] == ["b", "a"]
    assert datasets["u"]["unique"] == [
        {"name": None, "columns": ["b", "a"], "kind": "constraint"},
        {"name": "u_expr", "columns": ["b"], "kind": "index", "expressions": ["lower(a)"]},
        {"name": "u_part", "columns": ["a"], "kind": "index", "partial": True, "predicate": "b > ';'"},
    ]
    assert [(fk["ref_table"], fk["ref_columns"]) for fk in datasets["refs"]["foreign_keys"]] == [
        ("alias", ["id"]),
        ("bare", ["b"]),
    ]


def test_definition_texts_are_read_as_sqlite_reads_them() -> None:
    text = """CREATE TABLE "a (b" ( -- x AS (1), y
        [as] TEXT DEFAULT 'AS (2)', /* , z AS (3) */ "g,1" INT GENERATED ALWAYS AS (f(')', "x)") + (1)) STORED,
        h AS(a||'autoincrement'), CHECK ([as] <> ','))"""

    assert generated_expressions(text) == {"g,1": "f(')', \"x)\") + (1)", "h": "a||'autoincrement'"}
    assert not is_autoincrement(text)
    assert is_autoincrement("CREATE TABLE t(id integer primary key autoincrement)")
    assert index_predicate("CREATE UNIQUE INDEX i ON \"where\" (a) WHERE b = 'where'") == "b = 'where'"
    assert index_predicate("CREATE INDEX i ON t (a)") is None
    assert index_terms("CREATE INDEX i ON t (lower(a, ','), b desc, [c asc])") == [
        "lower(a, ',')",
        "b",
        "[c asc]",
    ]


def test_a_scope_and_its_patterns_apply(crawled: Callable[..., Snapshot]) -> None:
    script = "CREATE TABLE a1 (x int); CREATE TABLE a2 (x int); CREATE TABLE b (x int)"

    assert sorted(_by_name(crawled(script, scope=Scope(tables=("a?",))))) == ["a1", "a2"]


def test_another_schema_than_main_is_not_there(crawled: Callable[..., Snapshot]) -> None:
    snapshot = crawled("CREATE TABLE t (x int)", scope=Scope(schemas=("other",)))

    assert snapshot.datasets == ()
    assert [schema.name for schema in snapshot.coverage.schemas] == ["other"]


def test_a_locked_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "locked.db"
    owner = sqlite3.connect(path)
    owner.executescript("CREATE TABLE t (x int); BEGIN EXCLUSIVE;")

    with pytest.raises(CrawlError) as raised:
        inspect(f"sqlite:///{path}", limits=Limits(lock_seconds=0.2))

    assert raised.value.code == "timeout"
    assert "locked.db" in str(raised.value)
    owner.close()


def test_a_file_in_wal_mode_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    owner = sqlite3.connect(path)
    owner.execute("PRAGMA journal_mode = wal")
    owner.execute("CREATE TABLE t (x int)")
    owner.commit()
    before = path.read_bytes()

    assert sorted(_by_name(inspect(f"sqlite:///{path}"))) == ["t"]
    owner.close()
    assert sorted(_by_name(inspect(f"sqlite:///{path}"))) == ["t"]
    assert len(path.read_bytes()) >= len(before)


def test_names_that_are_no_utf8_do_not_stop_the_crawl(tmp_path: Path) -> None:
    path = tmp_path / "bytes.db"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (na_ve int, plain int)")
    connection.close()
    path.write_bytes(path.read_bytes().replace(b"na_ve", b"na\xffve"))

    snapshot = inspect(f"sqlite:///{path}")

    assert [field["name"] for field in snapshot.datasets[0]["fields"]] == ["na\\xffve", "plain"]


def test_a_type_with_a_number_of_thousands_of_digits_is_read(crawled: Callable[..., Snapshot]) -> None:
    native = f"numeric({'9' * 5000})"
    (dataset,) = crawled(f"CREATE TABLE t (a {native}, b numeric(10, 2))").datasets

    assert dataset["fields"][0]["native_type"] == native
    assert "arguments" not in dataset["fields"][0]["parameters"]
    assert dataset["fields"][1]["parameters"]["arguments"] == [10, 2]


def test_a_file_without_a_byte_shows_nothing_as_gone(tmp_path: Path) -> None:
    path = tmp_path / "nothing.db"
    path.touch()

    snapshot = inspect(f"sqlite:///{path}")

    assert snapshot.datasets == ()
    assert not snapshot.coverage.shows_schema("main")
    assert "0 bytes" in str(snapshot.coverage.schemas[0].reason)
    sqlite3.connect(path).executescript("CREATE TABLE t (a); DROP TABLE t;")
    assert inspect(f"sqlite:///{path}").coverage.shows_schema("main")
