"""What BACKWARD allows, done to real columns: extreme values, the column altered, and the same values read back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine

from registry.compatibility import verdict
from registry.documents import clean
from registry.seeding import bundled_catalogue
from registry.typesystem import TypeExpr, parse
from tests.registry.cases.type_changes import pairs
from tests.registry.test_compatibility import FITS
from tests.registry.test_compatibility_servers import mariadb_extremes, postgres_extremes
from tests.servers import MariaDBServer, PostgresServer

SQLITE_VALUES: dict[str, list[Any]] = {
    "integer": [-(2**63), 2**63 - 1, 0, -1, 2**53 + 1],
    "real": [0.1, -0.5, 1.7976931348623157e308, 5e-324, float(2**53), 9.007199254740993e15, 1e18, -1e19],
    "numeric": [-(2**63), 2**63 - 1, 0.1, 1e300],
    "decimal": [99999999.99, -99999999.99, 0.01],
    "text": ["", "007", "1e3", " 1", "ü\U0001f600", "x'00'", "9" * 40, "NULL"],
    "varchar": ["007", "1e3", "\U0001f600" * 10, " " * 10],
    "blob": [b"", b"\x00\xff", b"007"],
    "any": [1, 0.5, b"7"],
}


def backward(flavor: str) -> list[tuple[str, str]]:
    """The pairs that the verdict allows at BACKWARD: the labelled ones, and those of the types' own tests."""
    catalogue = bundled_catalogue(flavor)
    listed = [(pair[0], pair[1]) for pair in pairs(flavor)]
    listed += [tuple(pair.split(" > ")) for pair in FITS[flavor]]  # type: ignore[misc]
    found = []
    for old, new in dict.fromkeys(listed):
        sides = [clean({"fields": [{"name": "a", "native_type": each}]}) for each in (old, new)]
        if verdict(*sides, level="BACKWARD", catalogue=catalogue).compatible:
            found.append((old, new))
    return found


def altered(
    connection: Connection,
    flavor: str,
    *,
    extremes: Callable[[TypeExpr], list[str]],
    alter: str,
    lost: str,
) -> tuple[int, dict[tuple[str, str], list[str]]]:
    """How many values made the trip, and by pair the rows whose value is another one in the altered column."""
    catalogue, found, count = bundled_catalogue(flavor), {}, 0
    for old, new in backward(flavor):
        connection.exec_driver_sql("drop table if exists t")
        connection.exec_driver_sql(f"create table t (kept {old}, a {old})")
        for value in extremes(parse(catalogue, old)):
            connection.exec_driver_sql(f"insert into t values ({value}, {value})")
            count += 1
        connection.exec_driver_sql(alter.format(new=new))
        rows = connection.exec_driver_sql(f"select kept, a from t where {lost.format(old=old)}").all()
        if rows:
            found[old, new] = [str(row) for row in rows]
    return count, found


def test_columns_altered_in_postgresql_keep_every_value(postgres_server: PostgresServer) -> None:
    engine = create_engine(postgres_server.create_database(encoding="UTF8"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        count, lost = altered(
            connection,
            "postgresql",
            extremes=postgres_extremes,
            alter="alter table t alter column a type {new}",
            lost="a is null or a::{old} is distinct from kept",
        )
    engine.dispose()
    assert lost == {}
    assert count >= 100


def test_columns_altered_in_mariadb_keep_every_value(mariadb_server: MariaDBServer) -> None:
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.connect() as connection:
        connection.exec_driver_sql("set sql_mode = 'STRICT_ALL_TABLES'")
        count, lost = altered(
            connection,
            "mariadb",
            extremes=mariadb_extremes,
            alter="alter table t modify a {new}",
            lost="a is null or not (a <=> kept)",
        )
    engine.dispose()
    assert lost == {}
    assert count >= 100


def sqlite_trip(old: str, new: str, values: list[Any]) -> list[tuple[Any, Any]]:
    """Written through the one type, copied into a column of the other: what is not the same afterwards."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"create table old (n integer primary key, a {old})")
        database.execute(f"create table new (n integer primary key, a {new})")
        database.executemany("insert into old (a) values (?)", [(value,) for value in values])
        database.execute("insert into new select * from old")
        both = database.execute("select old.a, new.a from old join new using (n) order by n").fetchall()
    assert len(both) == len(values)
    return [(was, now) for was, now in both if was != now or isinstance(was, str) is not isinstance(now, str)]


def test_columns_rebuilt_in_sqlite_keep_every_value() -> None:
    catalogue, lost, count = bundled_catalogue("sqlite"), {}, 0
    for old, new in backward("sqlite"):
        code = parse(catalogue, old).code or ""
        values = SQLITE_VALUES.get(code, SQLITE_VALUES["numeric"] if code not in ("char",) else ["abc"])
        count += len(values)
        if changed := sqlite_trip(old, new, values):
            lost[old, new] = changed
    assert lost == {}
    assert count >= 50


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [("TEXT", "ANY", "007"), ("TEXT", "NUMERIC", "1e3"), ("TEXT", "INTEGER", "9"), ("INTEGER", "TEXT", 7)],
)
def test_what_sqlite_changes_in_a_column_is_not_allowed(old: str, new: str, value: Any) -> None:
    assert sqlite_trip(old, new, [value])
    assert (old, new) not in backward("sqlite")
