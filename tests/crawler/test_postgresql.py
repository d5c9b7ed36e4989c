"""PostgreSQL beyond the cases: odd shapes, lost connections."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from aide_crawler import CrawlError, Limits, Progress, Scope, inspect
from aide_crawler.dialects import postgresql_sql as statements
from sqlalchemy.engine import make_url

from tests.crawler.postgres_sessions import before, dataset_of, fields_of, session


def test_arrays_characters_intervals_and_collations(postgres_database: Callable[..., str]) -> None:
    snapshot = inspect(
        postgres_database(
            'CREATE TABLE t (a int[3][4], b numeric(5,2)[], c "char", d char, e bpchar, '
            'f interval year to month, g interval second(2), h int2vector, i text COLLATE "C", '
            "j bit varying(5)[])"
        )
    )

    parameters = {name: field["parameters"] for name, field in fields_of(snapshot, "t").items()}
    assert parameters["a"]["declared_dimensions"] == 2
    assert parameters["b"]["element"]["parameters"] == {"precision": 5, "scale": 2}
    assert parameters["c"] == parameters["e"] == parameters["h"] == {}
    assert parameters["d"] == {"length": 1}
    assert parameters["f"] == {"fields": "year to month"}
    assert parameters["g"] == {"fields": "second", "precision": 2}
    assert parameters["i"] == {"collation": 'pg_catalog."C"'}
    assert parameters["j"]["element"]["native_type"] == "bit varying(5)"
    assert fields_of(snapshot, "t")["h"]["type_kind"] == "base"


def test_unique_keys_of_every_kind(postgres_database: Callable[..., str]) -> None:
    snapshot = inspect(
        postgres_database(
            "CREATE TABLE t (a int, b int, c int, d text, UNIQUE (a) INCLUDE (b), "
            "UNIQUE (c) DEFERRABLE INITIALLY DEFERRED);"
            "CREATE UNIQUE INDEX by_text ON t (lower(d), a);"
            "CREATE UNIQUE INDEX partly ON t (a, b) WHERE c > 0;"
            "CREATE INDEX plain ON t (b)"
        )
    )

    uniques = {unique.pop("name"): unique for unique in dataset_of(snapshot, "t")["unique"]}
    assert uniques == {
        "by_text": {"columns": ["a"], "kind": "index", "expressions": ["lower(d)"]},
        "partly": {"columns": ["a", "b"], "kind": "index", "predicate": "(c > 0)"},
        "t_a_b_key": {"columns": ["a"], "kind": "constraint"},
        "t_c_key": {"columns": ["c"], "kind": "constraint"},
    }


def test_foreign_keys_into_what_is_not_crawled(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE SCHEMA far; CREATE TABLE far.p (a int, b int, PRIMARY KEY (b, a));"
        "CREATE TABLE c (x int, y int, FOREIGN KEY (x, y) REFERENCES far.p MATCH FULL "
        "ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED); "
        "ALTER TABLE c ADD CONSTRAINT later FOREIGN KEY (y, x) REFERENCES far.p NOT VALID"
    )

    for scope in (Scope(), Scope(schemas=("public",)), Scope(tables=("c",))):
        keys = {key["name"]: key for key in dataset_of(inspect(url, scope=scope), "c")["foreign_keys"]}
        assert keys["c_x_y_fkey"]["ref_columns"] == ["b", "a"]
        assert keys["c_x_y_fkey"]["match"] == "FULL"
        assert keys["c_x_y_fkey"]["initially_deferred"] is True
        assert keys["later"]["validated"] is False
        assert keys["later"]["columns"] == ["y", "x"]


def test_partitions_are_counted_for_the_topmost_table(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(
        "CREATE SCHEMA parts; CREATE TABLE t (k text, r int) PARTITION BY LIST (lower(k));"
        "CREATE TABLE parts.t_a PARTITION OF t FOR VALUES IN ('a') PARTITION BY RANGE (r);"
        "CREATE TABLE parts.t_a1 PARTITION OF parts.t_a FOR VALUES FROM (1) TO (5);"
        "CREATE TABLE t_rest PARTITION OF t DEFAULT"
    )

    for scope in (Scope(), Scope(schemas=("public",))):
        snapshot = inspect(url, scope=scope)
        assert [dataset["name"] for dataset in snapshot.datasets] == ["t"]
        assert snapshot.datasets[0]["attributes"] == {
            "partition_key": "LIST (lower(k))",
            "partition_count": 2,
        }


def test_typed_empty_and_foreign_tables(postgres_database: Callable[..., str]) -> None:
    snapshot = inspect(
        postgres_database(
            "CREATE TYPE person AS (id int, name varchar(10)); CREATE TABLE typed OF person (PRIMARY KEY (id));"
            "CREATE TABLE nothing (); CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w;"
            "CREATE FOREIGN TABLE there (a int NOT NULL) SERVER far"
        )
    )

    assert dataset_of(snapshot, "typed")["attributes"] == {"of_type": "public.person"}
    assert dataset_of(snapshot, "nothing")["fields"] == []
    assert dataset_of(snapshot, "there")["kind"] == "foreign_table"
    assert dataset_of(snapshot, "there")["attributes"] == {"foreign_server": "far"}


def test_relations_of_an_extension_are_marked_and_names_like_system_ones_are_not(
    postgres_database: Callable[..., str],
) -> None:
    snapshot = inspect(
        postgres_database(
            'CREATE SCHEMA pgadmin_data; CREATE SCHEMA pg2; CREATE SCHEMA "PG_x"; '
            "CREATE SCHEMA information_schema2; CREATE TABLE pgadmin_data.t (a int); CREATE TABLE pg2.t (a int);"
            'CREATE TABLE "PG_x".t (a int); CREATE TABLE information_schema2.t (a int);'
            "CREATE TABLE public.mine (a int); CREATE TEMP TABLE gone (a int);"
            "ALTER EXTENSION plpgsql ADD TABLE public.mine"
        )
    )

    assert {dataset["schema"] for dataset in snapshot.datasets} == {
        "PG_x",
        "information_schema2",
        "pg2",
        "pgadmin_data",
        "public",
    }
    assert dataset_of(snapshot, "mine")["attributes"] == {"extension": "plpgsql"}


def test_the_widest_table(postgres_database: Callable[..., str]) -> None:
    columns = ", ".join(f"c{number} smallint" for number in range(1, 1601))

    fields = inspect(postgres_database(f"CREATE TABLE wide ({columns})")).datasets[0]["fields"]

    assert [field["name"] for field in fields] == [f"c{number}" for number in range(1, 1601)]


def test_a_reader_without_rights_still_sees_the_shapes(
    postgres_database: Callable[..., str], postgres_server: Any
) -> None:
    postgres_server.execute(
        "DO $$ BEGIN CREATE ROLE aide_blind LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    url = make_url(
        postgres_database("CREATE SCHEMA closed; CREATE TABLE closed.t (a int PRIMARY KEY DEFAULT 1)")
    )

    snapshot = inspect(url.set(username="aide_blind"))

    assert snapshot.coverage.complete
    assert snapshot.datasets[0]["attributes"] == {"select_privilege": False, "schema_usage": False}
    assert snapshot.datasets[0]["primary_key"]["columns"] == ["a"]
    assert snapshot.datasets[0]["fields"][0]["default"] == "1"


def test_bytes_without_an_encoding_are_read(postgres_database: Callable[..., str]) -> None:
    url = postgres_database(encoding="SQL_ASCII", lc_collate="C", lc_ctype="C")
    with session(url) as other:
        other.execute("SET client_encoding TO sql_ascii")
        other.execute(b"CREATE TYPE kind AS ENUM ('a', '\xe4', '\xc3\xa4')")
        other.execute(b"CREATE DOMAIN d AS text CONSTRAINT \"\xe4\" CHECK (VALUE <> '\xe4')")
        other.execute(b"CREATE TABLE types (k kind DEFAULT '\xe4', d d)")
        other.execute(b"COMMENT ON TABLE types IS '\xa4'")
        other.execute(b'CREATE TABLE "caf\xe9" ("na\xc3\xafve" int, "\xff" text, "\xc3\xbf" text)')
        other.commit()

    snapshot = inspect(url)

    assert [dataset["name"] for dataset in snapshot.datasets] == [r"caf\xe9", "types"]
    assert list(fields_of(snapshot, r"caf\xe9")) == ["naïve", r"\xff", "ÿ"]
    fields = fields_of(snapshot, "types")
    assert fields["k"]["parameters"] == {"values": ["a", r"\xe4", "ä"]}
    assert fields["k"]["default"] == r"'\xe4'::kind"
    assert fields["d"]["parameters"]["checks"][0]["name"] == r"\xe4"
    assert dataset_of(snapshot, "types")["comment"] == r"\xa4"


def test_a_lost_connection_ends_the_crawl_with_an_error(
    postgres_database: Callable[..., str], postgres_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_database("CREATE TABLE t (a int)")
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE application_name = 'aide-crawler' AND datname = '{make_url(url).database}'"
    )
    before(monkeypatch, "defaults", lambda: postgres_server.execute(kill))

    with pytest.raises(CrawlError) as raised:
        inspect(url)

    assert raised.value.code == "connection_lost"
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("timeout", {"limits": Limits(statement_seconds=0.5)}),
        ("timeout", {"limits": Limits(total_seconds=0.5)}),
        (
            "cancelled",
            {"should_stop": iter([False, False, False, False, False, True] + [True] * 99).__next__},
        ),
    ],
)
def test_a_statement_that_hangs_is_ended(
    code: str, how: dict[str, Any], postgres_database: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_database("CREATE TABLE t (a int)")
    monkeypatch.setattr(statements, "columns", lambda wanted: "select pg_sleep(30)")
    began = time.monotonic()

    with pytest.raises(CrawlError) as raised:
        inspect(url, **how)

    assert raised.value.code == code
    assert time.monotonic() - began < 8


def test_a_time_limit_of_the_role_is_respected_and_told(
    postgres_database: Callable[..., str], postgres_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_server.execute(
        "DO $$ BEGIN CREATE ROLE aide_hasty LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    postgres_server.execute("ALTER ROLE aide_hasty SET statement_timeout = '400ms'")
    url = make_url(postgres_database("CREATE TABLE t (a int)")).set(username="aide_hasty")
    monkeypatch.setattr(statements, "columns", lambda wanted: "select pg_sleep(20)")

    with pytest.raises(CrawlError) as raised:
        inspect(url)

    assert raised.value.code == "timeout"


def test_schemas_that_are_not_there_are_told(postgres_database: Callable[..., str]) -> None:
    snapshot = inspect(
        postgres_database("CREATE TABLE t (a int)"),
        scope=Scope(schemas=("public", "nowhere", "pg_catalog", "any*")),
    )

    reasons = {schema.name: schema.reason for schema in snapshot.coverage.schemas}
    assert reasons["public"] is None
    assert reasons["nowhere"] == "There is no schema of this name."
    assert reasons["pg_catalog"] == "Schemas of the server itself are not crawled."
    assert set(reasons) == {"public", "nowhere", "pg_catalog"}
    assert snapshot.coverage.complete
    assert snapshot.coverage.all_schemas


def test_progress_ends_at_the_end(postgres_database: Callable[..., str]) -> None:
    seen: list[Progress] = []

    inspect(postgres_database("CREATE TABLE a (x int); CREATE TABLE b (x int)"), on_progress=seen.append)

    assert seen[0] == Progress("public", "a", 0, 1, 0, 2)
    assert seen[-1] == Progress(None, None, 1, 1, 2, 2)
