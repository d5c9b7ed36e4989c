"""The catalogues against the truth: real servers accept every example and report what is listed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import Connection, create_engine, text

from registry.catalogues import catalogue_for, load
from registry.models import DataType
from registry.seeding import bundled_catalogue, bundled_files, read_all
from registry.typesystem import Example, TypeDef, parse
from registry.typesystem.mysql import CHARSET_BYTES
from tests.servers import MariaDBServer, PostgresServer


def examples(flavor: str, version: str) -> Iterator[tuple[TypeDef, Example]]:
    """What a server of this version can check."""
    for typedef in bundled_catalogue(flavor):
        for example in typedef.examples:
            if not example.unchecked and _number(example.since or "0") <= _number(version):
                yield typedef, example


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def test_postgresql_reports_every_example_as_listed(postgres_server: PostgresServer) -> None:
    engine = create_engine(postgres_server.create_database())
    checked = 0
    with engine.connect() as connection:
        connection.execute(text("set search_path to public"))
        version = connection.scalar(text("show server_version")).split()[0]
        for _, example in examples("postgresql", version):
            with connection.begin_nested() as savepoint:
                for statement in filter(None, [example.setup]):
                    connection.exec_driver_sql(statement)
                assert _postgres_type(connection, example.sql) == example.reported
                savepoint.rollback()
            checked += 1
    engine.dispose()
    assert checked > 100


def _postgres_type(connection: Connection, sql: str) -> str | None:
    connection.exec_driver_sql(f"create table t (c {sql})")
    return connection.scalar(
        text(
            "select format_type(atttypid, atttypmod) from pg_attribute where attrelid = 't'::regclass and attnum = 1"
        )
    )


def test_postgresql_has_no_type_that_the_catalogue_lacks(postgres_server: PostgresServer) -> None:
    engine = create_engine(postgres_server.create_database())
    catalogue = bundled_catalogue("postgresql")
    with engine.connect() as connection:
        names = connection.scalars(
            text(
                "select format_type(t.oid, null) from pg_type t join pg_namespace n on n.oid = typnamespace"
                " where nspname = 'pg_catalog' and typtype in ('b', 'r', 'm') and typcategory <> 'A'"
            )
        )
        unknown = [name for name in names if parse(catalogue, name).code is None]
    engine.dispose()
    assert unknown == []


def test_mariadb_reports_every_example_as_listed(mariadb_server: MariaDBServer) -> None:
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    catalogue = bundled_catalogue("mariadb")
    checked = 0
    with engine.connect() as connection:
        version = connection.scalar(text("select version()"))
        for typedef, example in examples("mariadb", version):
            connection.exec_driver_sql(f"create or replace table t (c {example.sql.replace('%', '%%')})")
            row = connection.execute(
                text(
                    "select column_type, character_set_name, collation_name from information_schema.columns"
                    " where table_schema = database() and table_name = 't'"
                )
            ).one()
            assert row[0] == example.reported, example.sql
            told = {"charset": row[1], "collation": row[2], "json_alias": typedef.code == "json"}
            if "srid" not in example.params:  # COLUMN_TYPE leaves it out
                assert parse(catalogue, row[0], field={"parameters": told}) == parse(catalogue, example.sql)
            checked += 1
    engine.dispose()
    assert checked > 80


SHORTCUTS = ["text(63)", "text(64)", "text(16383)", "text(16384)", "blob(255)", "blob(256)", "long", "long varbinary",
             "float(24)", "float(25)", "real", "serial", "nchar(3)", "national varchar(4)", "int zerofill", "fixed",
             "char byte", "bool", "dec(5)", "decimal(5,2) zerofill", "year(4)", "middleint"]  # fmt: skip


def test_mariadb_turns_shortcuts_into_what_we_read_them_as(mariadb_server: MariaDBServer) -> None:
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    catalogue = bundled_catalogue("mariadb")
    wrong = {}
    with engine.connect() as connection:
        for shortcut in SHORTCUTS:
            connection.exec_driver_sql(f"create or replace table t (c {shortcut})")
            row = connection.execute(
                text(
                    "select column_type, character_set_name, collation_name from information_schema.columns"
                    " where table_schema = database() and table_name = 't'"
                )
            ).one()
            reported = parse(
                catalogue, row[0], field={"parameters": {"charset": row[1], "collation": row[2]}}
            )
            if parse(catalogue, shortcut) != reported:
                wrong[shortcut] = (row, parse(catalogue, shortcut).rendered, reported.rendered)
    engine.dispose()
    assert wrong == {}


def test_the_default_collation_of_every_mariadb_character_set_is_no_content(
    mariadb_server: MariaDBServer,
) -> None:
    engine = create_engine(mariadb_server.create_database())
    catalogue = bundled_catalogue("mariadb")
    with engine.connect() as connection:
        defaults = connection.execute(
            text(
                "select character_set_name, default_collate_name, maxlen from information_schema.character_sets"
            )
        ).all()
    engine.dispose()
    wrong = [
        (charset, collation)
        for charset, collation, _ in defaults
        if "uca1400" not in collation  # the default of newer servers, which is told apart from the older one
        if parse(catalogue, f"varchar(9) character set {charset} collate {collation}")
        != parse(catalogue, f"varchar(9) character set {charset}")
    ]
    assert wrong == []
    assert {c: CHARSET_BYTES.get(c, 1) for c, _, _ in defaults} == {c: most for c, _, most in defaults}


def test_sqlite_takes_every_example_and_has_the_affinity_of_its_type() -> None:
    values = {"integer": ("integer", "integer"), "real": ("real", "integer"), "text": ("text", "text"),
              "blob": ("text", "integer"), "numeric": ("integer", "integer")}  # fmt: skip
    affinities = {"varchar": "text", "char": "text", "decimal": "numeric", "boolean": "numeric", "date": "numeric",
                  "datetime": "numeric", "time": "numeric", "json": "numeric", "any": "numeric"}  # fmt: skip
    with closing(sqlite3.connect(":memory:")) as connection:
        for typedef, example in examples("sqlite", "3"):
            connection.execute(f"create table t (c {example.sql})")
            (declared,) = connection.execute("select type from pragma_table_info('t')").fetchone()
            assert declared.lower() == example.reported  # newer versions report standard names in upper case
            connection.execute("insert into t values ('1'), (1)")
            kinds = tuple(row[0] for row in connection.execute("select typeof(c) from t"))
            expected = values[affinities.get(typedef.code, typedef.code)]
            assert kinds == (expected if typedef.code != "real" else ("real", "real")), example.sql
            connection.execute("drop table t")


@pytest.mark.django_db
def test_the_database_gives_the_bundled_catalogue_back() -> None:
    load(read_all(bundled_files()))
    flavors = [path.stem for path in bundled_files() if path.stem != "flavors"]
    assert len(flavors) == 13
    for flavor in flavors:
        stored, bundled = catalogue_for(flavor), bundled_catalogue(flavor)
        assert {each.code: vars(each) for each in stored} == {each.code: vars(each) for each in bundled}
    assert len(catalogue_for("no-such-flavor")) == 0


@pytest.mark.django_db
def test_a_catalogue_is_kept_until_a_type_changes(django_assert_num_queries: object) -> None:
    load(read_all(bundled_files()))
    first = catalogue_for("sqlite")
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert catalogue_for("sqlite") is first
    row = DataType.objects.get(flavor__code="sqlite", code="integer")
    row.aliases = [*row.aliases, "wholenumber"]
    row.save()
    changed = catalogue_for("sqlite")
    assert changed is not first
    found = changed.find("WholeNumber")
    assert found is not None
    assert found.code == "integer"
    DataType.objects.filter(pk=row.pk).delete()
    assert catalogue_for("sqlite").get("integer") is None
