"""Defaults and foreign keys of a plan's DDL: real servers take them and fill in the same values."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from registry.casting import TablePlan, write_ddl
from registry.casting.defaults import BOOLEAN, NOTHING, NOW, NUMBER, TEXT, TODAY, Default, read
from registry.documents import clean
from tests.registry.test_casting_ddl import plan
from tests.servers import MariaDBServer, PostgresServer

# name, PostgreSQL's type, its default, what a new row holds (as text; None: only that it is there)
FIELDS: tuple[tuple[str, str, str, str | None], ...] = (
    ("quantity", "integer", "7", "7"),
    ("below", "integer", "'-3'::integer", "-3"),
    ("price", "numeric(8,2)", "9.50", "9.50"),
    ("ratio", "double precision", "'0.25'::double precision", "0.25"),
    ("state", "varchar(20)", "'it''s \\ new'::character varying", "it's \\ new"),
    ("kind", "character(3)", "'abc'::bpchar", "abc"),
    ("nothing", "varchar(5)", "''::character varying", ""),
    ("note", "text", "('unset'::text)", "unset"),
    ("sold_on", "date", "'2026-02-28'::date", "2026-02-28"),
    ("seen_at", "timestamp(0) without time zone", "'2026-02-28 10:11:12'::timestamp without time zone", None),
    ("made_at", "timestamp(3) without time zone", "now()", None),
    ("made_on", "date", "CURRENT_DATE", None),
    ("active", "boolean", "true", None),
    ("closed", "boolean", "false", None),
    ("key", "uuid", "'6f2c1a52-6a5b-4f0e-8f6d-0d3c2b1a0001'::uuid", None),
    ("settings", "jsonb", "'{\"a\": 1}'::jsonb", None),
)
REFERENCE = {
    "name": "orders_customer",
    "columns": ["customer"],
    "ref_schema": None,
    "ref_table": "customers",
    "ref_columns": ["id"],
    "on_delete": "CASCADE",
    "on_update": "RESTRICT",
}


def customers() -> dict[str, Any]:
    fields = [{"name": "id", "native_type": "bigint", "nullable": False}]
    key = {"primary_key": {"name": None, "columns": ["id"]}}
    return clean({"schema": "", "name": "customers", "fields": fields, **key})


def orders() -> dict[str, Any]:
    fields: list[dict[str, Any]] = [
        {
            "name": "id",
            "native_type": "bigint",
            "nullable": False,
            "default": "nextval('orders_id_seq'::regclass)",
        },
        {"name": "customer", "native_type": "bigint", "nullable": False},
        {
            "name": "total",
            "native_type": "numeric",
            "generated": {"kind": "stored", "expression": "price * quantity"},
        },
        *({"name": n, "native_type": t, "default": d, "nullable": False} for n, t, d, _ in FIELDS),
    ]
    values = {
        "primary_key": {"name": None, "columns": ["id"]},
        "unique": [{"name": "once", "columns": ["customer", "state"], "kind": "constraint"}],
        "foreign_keys": [REFERENCE],
    }
    return clean({"schema": "", "name": "sales", "fields": fields, **values})


def both(target: str) -> tuple[TablePlan, TablePlan]:
    return plan(customers(), "postgresql", target), plan(orders(), "postgresql", target)


def checked(row: Any) -> None:
    for name, _, _, wanted in FIELDS:
        value = row[name]
        assert value is not None, name
        if wanted is not None:
            assert str(value).rstrip() == wanted, name
    assert "10:11:12" in str(row["seen_at"])
    assert (bool(row["active"]), bool(row["closed"])) == (True, False)


@pytest.mark.parametrize("target", ["postgresql", "mariadb"])
def test_servers_fill_in_defaults_and_keep_references(
    target: str, postgres_server: PostgresServer, mariadb_server: MariaDBServer
) -> None:
    if target == "postgresql":
        engine = create_engine(postgres_server.create_database())
    else:
        engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.begin() as connection:
        for made in both(target):
            for statement in write_ddl(made).split(";\n"):
                if statement.strip():
                    connection.exec_driver_sql(statement.replace("%", "%%"))
        connection.execute(text("insert into customers (id) values (1)"))
        connection.execute(text("insert into sales (id, customer) values (1, 1)"))
        checked(connection.execute(text("select * from sales")).mappings().one())
        connection.execute(text("delete from customers"))
        assert connection.scalar(text("select count(*) from sales")) == 0, "ON DELETE CASCADE"
        keys = text(
            "select constraint_type, count(*) from information_schema.table_constraints"
            " where table_name = 'sales' and constraint_type <> 'CHECK' group by constraint_type"
        )
        assert dict(connection.execute(keys).all()) == {"PRIMARY KEY": 1, "UNIQUE": 1, "FOREIGN KEY": 1}
        required = text(
            "select count(*) from information_schema.columns where table_name = 'sales' and is_nullable = 'NO'"
        )
        assert connection.scalar(required) == len(FIELDS) + 2
    engine.dispose()


def test_sqlite_fills_in_defaults_and_keeps_references() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("pragma foreign_keys = on")
        for made in both("sqlite"):
            connection.executescript(write_ddl(made))
        connection.execute("insert into customers (id) values (1)")
        connection.execute("insert into sales (id, customer) values (1, 1)")
        row = dict(connection.execute("select * from sales").fetchone())
        checked({**row, "price": f"{float(row['price']):.2f}"})
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("insert into sales (id, customer, state) values (2, 9, 'x')")
        connection.execute("delete from customers")
        assert connection.execute("select count(*) from sales").fetchone()[0] == 0


def test_what_is_left_out_is_told_with_its_reason() -> None:
    made = write_ddl(plan(orders(), "postgresql", "mysql"))
    sequence = (
        "id: its default nextval('orders_id_seq'::regclass) was left out: it is the source's own expression"
    )
    assert f"  -- {sequence}" in made
    assert "  -- total: its expression was left out: it is the source's own" in made
    assert "ALTER TABLE `sales` ADD CONSTRAINT `orders_customer` FOREIGN KEY (`customer`)" in made
    hive = write_ddl(plan(orders(), "postgresql", "hive"))
    assert "  -- quantity: its default was left out: Hive keeps none here" in hive
    assert "REFERENCES `customers` (`id`) DISABLE NOVALIDATE;" in hive
    assert "ON DELETE CASCADE of (customer): not known to Hive" in hive
    iceberg = write_ddl(plan(orders(), "postgresql", "iceberg"))
    assert "REFERENCES `customers` (`id`)" in iceberg
    assert "not kept by Iceberg" in iceberg
    assert "ALTER" not in iceberg
    oracle = write_ddl(plan(orders(), "postgresql", "oracle"))
    assert "DATE DEFAULT TIMESTAMP '2026-02-28 00:00:00' NOT NULL" in oracle
    assert "DATE DEFAULT TRUNC(SYSDATE) NOT NULL" in oracle
    assert "nothing: its default was left out: Oracle keeps none here" in oracle
    assert "ON UPDATE RESTRICT of (customer): not known to Oracle" in oracle
    sqlserver = write_ddl(plan(orders(), "postgresql", "sqlserver"))
    assert "DEFAULT N'it''s \\ new' NOT NULL" in sqlserver
    assert "DEFAULT 1 NOT NULL" in sqlserver


def test_a_default_that_the_type_cannot_hold_is_left_out() -> None:
    fields = [
        {"name": "a", "native_type": "varchar(9)", "default": "'long text'"},
        {"name": "b", "native_type": "datetime", "default": "'0000-00-00 00:00:00'"},
        {"name": "c", "native_type": "int", "default": "'five'"},
        {"name": "d", "native_type": "varchar(9)", "default": "uuid()"},
        {"name": "e", "native_type": "varchar(90)", "default": "NULL"},
    ]
    made = plan(clean({"schema": "", "name": "t", "fields": fields}), "mysql", "postgresql")
    ddl = write_ddl(made)
    assert ddl.count("DEFAULT") == 1
    assert "b: its default '0000-00-00 00:00:00' was left out: it is no value of timestamp" in ddl
    assert "c: its default 'five' was left out: it is no value of integer" in ddl
    assert "d: its default uuid() was left out: it is the source's own expression" in ddl
    assert [field.name for field in made.fields if field.left_out] == ["b", "c", "d"]


def test_a_default_cannot_end_its_statement_or_comment() -> None:
    fields = [
        {"name": "a", "native_type": "varchar(90)", "default": "'x''; drop table t; --'"},
        {"name": "b", "native_type": "integer", "default": "f()\n); drop table t; --"},
    ]
    ddl = write_ddl(plan(clean({"schema": "", "name": "t", "fields": fields}), "postgresql", "sqlite"))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(ddl)
        connection.execute("insert into t (b) values (1)")
        assert connection.execute("select a from t").fetchone() == ("x'; drop table t; --",)


@pytest.mark.parametrize(
    ("flavor", "said", "found"),
    [
        ("postgresql", "'x'::character varying(20)", Default(TEXT, "x")),
        ("postgresql", "(('a''b'::text))", Default(TEXT, "a'b")),
        ("postgresql", "'2020-01-01'::timestamp with time zone", Default(TEXT, "2020-01-01")),
        ("postgresql", "NULL::character varying", Default(NOTHING)),
        ("postgresql", "'a'::text || 'b'::text", None),
        ("postgresql", "lower('A'::text)", None),
        ("postgresql", "'{}'::text[]", None),
        ("sqlserver", "((0))", Default(NUMBER, "0")),
        ("sqlserver", "(N'yes')", Default(TEXT, "yes")),
        ("sqlserver", "(getdate())", Default(NOW)),
        ("oracle", "SYSDATE", Default(NOW)),
        ("mariadb", "current_timestamp(3)", Default(NOW)),
        ("mysql", "curdate()", Default(TODAY)),
        ("mysql", "'a\\'b'", None),
        ("mysql", "b'0'", None),
        ("sqlite", "-1.5e3", Default(NUMBER, "-1.5e3")),
        ("sqlite", "TRUE", Default(BOOLEAN, "true")),
        ("sqlite", "(1) + (2)", None),
        ("sqlite", "x" * 5_000, None),
    ],
)
def test_what_a_default_says(flavor: str, said: str, found: Default | None) -> None:
    assert read(said, flavor=flavor) == found
