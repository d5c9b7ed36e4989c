"""The schema text of a plan: real servers take the DDL, and every other text can be read by its own readers."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text

from registry.casting import TablePlan, plan_document, planner, write_ddl
from registry.documents import clean
from registry.seeding import bundled_catalogue
from registry.typesystem import build, parse
from tests.registry.test_casting import FLAVORS
from tests.servers import MariaDBServer, PostgresServer

NOT_FOR_COLUMNS = ("user_defined", "pseudo")


def every_type(flavor: str, *, extensions: bool = True) -> dict[str, Any]:
    """A document with a column for each example of the flavor's catalogue."""
    catalogue = bundled_catalogue(flavor)
    natives = [
        build(catalogue, typedef.code, example.params).rendered
        for typedef in catalogue
        if typedef.kind not in NOT_FOR_COLUMNS and (extensions or typedef.kind != "extension")
        for example in typedef.examples
    ]
    fields = [
        {"name": f"c{n} {native[:20].strip()}", "native_type": native, "comment": f'It\'s {native} \\ of "n"'}
        for n, native in enumerate(natives)
    ]
    return clean({"schema": "s", "name": "every type", "comment": "All 'types'", "fields": fields})


def plan(document: dict[str, Any], source: str, target: str) -> TablePlan:
    return plan_document(document, planner=planner(bundled_catalogue(source), bundled_catalogue(target)))


def shop(**values: Any) -> dict[str, Any]:
    fields = [
        {"name": "id", "native_type": "bigint", "nullable": False},
        {"name": 'odd "name`]', "native_type": "varchar(80)", "comment": "who's"},
        {"name": "note", "native_type": "text"},
        {"name": "ip", "native_type": "inet"},
    ]
    keys = {
        "primary_key": {"name": None, "columns": ["id"]},
        "unique": [
            {"name": "a", "columns": ['odd "name`]'], "kind": "constraint"},
            {"name": "b", "columns": ["note"], "kind": "constraint"},
            {"name": "c", "columns": ["ip"], "kind": "constraint"},
        ],
    }
    return clean(
        {"schema": "shop", "name": "orders", "comment": "All orders", "fields": fields, **keys, **values}
    )


def names_in(connection: Connection, table: str) -> list[str]:
    """The columns that the server has, in their order."""
    schema = "database()" if connection.dialect.name == "mysql" else "'s'"
    statement = (
        "select column_name from information_schema.columns"
        f" where table_name = :table and table_schema = {schema} order by ordinal_position"
    )
    return list(connection.scalars(text(statement), {"table": table}))


@pytest.mark.parametrize("source", FLAVORS)
def test_postgresql_takes_the_ddl_of_every_flavor(source: str, postgres_server: PostgresServer) -> None:
    made = plan(every_type(source, extensions=source != "postgresql"), source, "postgresql")
    url = postgres_server.create_database()
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql('create schema "s"')
        connection.exec_driver_sql(write_ddl(made).replace("%", "%%"))
        columns = names_in(connection, "every type")
        comments = connection.scalars(
            text("select col_description('s.\"every type\"'::regclass, n) from generate_series(1, :most) n"),
            {"most": len(columns)},
        ).all()
    engine.dispose()
    assert columns == [field.name for field in made.known]
    assert comments == [field.comment for field in made.known]


@pytest.mark.parametrize("source", FLAVORS)
def test_mariadb_takes_the_ddl_of_every_flavor(source: str, mariadb_server: MariaDBServer) -> None:
    document = every_type(source)
    unknown = {"vector"}  # newer than the servers that tests may have
    document["fields"] = [
        field
        for field in document["fields"]
        if source not in ("mariadb", "mysql")
        or parse(bundled_catalogue(source), field["native_type"]).code not in unknown
    ]
    made = plan({**document, "schema": ""}, source, "mariadb")
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.begin() as connection:
        connection.exec_driver_sql(write_ddl(made).replace("%", "%%"))
        columns = names_in(connection, "every type")
    engine.dispose()
    assert columns == [field.name for field in made.known]


@pytest.mark.parametrize("source", FLAVORS)
def test_sqlite_takes_the_ddl_of_every_flavor(source: str) -> None:
    made = plan(every_type(source), source, "sqlite")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(write_ddl(made))
        rows = connection.execute("select name from pragma_table_info('every type')").fetchall()
    assert [name for (name,) in rows] == [field.name for field in made.known]


def test_keys_and_comments_are_kept_where_the_engine_has_them(
    postgres_server: PostgresServer, mariadb_server: MariaDBServer
) -> None:
    postgres, mariadb = postgres_server.create_database(), mariadb_server.create_database("shop")
    for url, target, unique in ((postgres, "postgresql", 3), (mariadb, "mariadb", 2)):
        engine = create_engine(url)
        with engine.begin() as connection:
            if target == "postgresql":
                connection.exec_driver_sql("create schema shop")
            connection.exec_driver_sql(write_ddl(plan(shop(), "postgresql", target)).replace("%", "%%"))
            keys = connection.execute(
                text(
                    "select constraint_type, count(*) from information_schema.table_constraints"
                    " where table_name = 'orders' and constraint_type <> 'CHECK' group by constraint_type"
                )
            )
            assert dict(keys.all()) == {"PRIMARY KEY": 1, "UNIQUE": unique}
            told = {
                "postgresql": "select obj_description('shop.orders'::regclass)",
                "mariadb": "select table_comment from information_schema.tables where table_name = 'orders'",
            }
            assert connection.scalar(text(told[target])) == "All orders"
        engine.dispose()
    mariadb_server.drop_database("shop")


def test_what_cannot_be_kept_is_told_in_comments() -> None:
    hive = write_ddl(plan(shop(), "postgresql", "hive"))
    assert "-- ip inet: Hive has no type for network addresses" in hive
    assert "PRIMARY KEY (`id`) DISABLE NOVALIDATE" in hive
    assert "-- UNIQUE (`note`): not kept by Hive" in hive
    mysql = write_ddl(plan(shop(), "postgresql", "mysql"))
    assert "-- UNIQUE (`note`): a longtext cannot be in a key" in mysql
    assert "-- UNIQUE (`ip`): ip has no type here" in mysql
    assert '[odd "name`]]] nvarchar(160)' in write_ddl(plan(shop(), "postgresql", "sqlserver"))


def test_a_name_cannot_end_a_comment_of_the_ddl() -> None:
    evil = {"name": "x\n); drop table t; --", "native_type": "inet"}
    text = write_ddl(
        plan(shop(fields=[{"name": "id", "native_type": "bigint"}, evil], unique=[]), "postgresql", "hive")
    )
    assert not any(line.startswith(");") and "drop" in line for line in text.splitlines())


def test_long_rows_of_mysql_move_their_longest_texts_out(mariadb_server: MariaDBServer) -> None:
    fields = [{"name": f"c{n}", "native_type": f"varchar({4000 + n})"} for n in range(12)]
    made = plan(clean({"schema": "", "name": "wide", "fields": fields}), "postgresql", "mariadb")
    codes = [field.target.code for field in made.known if field.target]
    assert {"varchar", "text"} == set(codes)
    assert all(field.cast.safety == "lossless" for field in made.known)
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.begin() as connection:
        connection.exec_driver_sql(write_ddl(made))
    engine.dispose()


@pytest.mark.parametrize("source", FLAVORS)
def test_an_avro_schema_is_json_with_names_and_defaults_that_avro_takes(source: str) -> None:
    schema = json.loads(write_ddl(plan(every_type(source), source, "kafka_avro")))
    names = [field["name"] for field in schema["fields"]]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "a").isalnum() and not name[0].isdigit() for name in names)
    for field in schema["fields"]:
        assert (field["type"][0], field["default"]) == ("null", None), field
        assert not any(isinstance(member, list) for member in field["type"]), field
        found = parse(bundled_catalogue("kafka_avro"), json.dumps(field["type"]))
        assert found.code == "union", field
    assert len(_names(schema)) == len(set(_names(schema)))


def _names(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for each in schema for name in _names(each)]
    if not isinstance(schema, dict):
        return []
    full = f"{schema.get('namespace', 's')}.{schema.get('name')}"
    own = [full] if schema.get("type") in ("record", "enum", "fixed") else []
    parts = [schema.get("items"), schema.get("values"), schema.get("type")]
    return (
        own
        + [n for part in parts for n in _names(part)]
        + [n for f in schema.get("fields", ()) for n in _names(f["type"])]
    )


def test_a_type_that_avro_names_is_written_out_once() -> None:
    suit = '{"type":"enum","name":"Suit","symbols":["A"]}'
    other = '{"type":"enum","name":"Suit","symbols":["A","B"]}'
    fields = [{"name": f"c{n}", "native_type": native} for n, native in enumerate((suit, suit, other))]
    document = clean({"schema": "", "name": "cards", "fields": fields})
    schema = json.loads(write_ddl(plan(document, "kafka_avro", "kafka_avro")))
    first, second, third = (field["type"][1] for field in schema["fields"])
    assert (first["name"], second, third["name"]) == ("Suit", "Suit", "Suit_")


@pytest.mark.parametrize("source", FLAVORS)
def test_the_other_texts_are_written_for_every_flavor(source: str) -> None:
    document = every_type(source)
    schema = json.loads(write_ddl(plan(document, source, "kafka_json")))
    assert schema["type"] == "object"
    assert set(schema["properties"]) == {field.name for field in plan(document, source, "kafka_json").known}
    table = json.loads(write_ddl(plan(document, source, "csv")))
    assert {field["type"] for field in table["fields"]} <= {
        "string", "integer", "number", "boolean", "date", "time", "datetime",
    }  # fmt: skip
    protobuf = write_ddl(plan(document, source, "kafka_protobuf"))
    assert protobuf.startswith('syntax = "proto3";')
    assert protobuf.count("{") == protobuf.count("}")
    parquet = write_ddl(plan(document, source, "parquet"))
    assert parquet.startswith("message every_type {")
    assert parquet.count("{") == parquet.count("}")
