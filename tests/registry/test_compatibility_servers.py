"""The compatibility rules against real servers: extreme values of the old type survive a trip through the new one."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, create_engine

from registry.seeding import bundled_catalogue
from registry.typesystem import TypeExpr, parse
from tests.registry.test_compatibility import FITS
from tests.servers import MariaDBServer, PostgresServer

_POSTGRES_INTEGERS = {"smallint": 15, "integer": 31, "bigint": 63}
_MARIADB_INTEGERS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_FRACTION = "123456"


def postgres_extremes(expr: TypeExpr) -> list[str]:
    code, params = expr.code or "", expr.params
    if code in _POSTGRES_INTEGERS:
        limit = 2 ** _POSTGRES_INTEGERS[code]
        return [f"'{-limit}'", f"'{limit - 1}'"]
    if code == "numeric":
        return _decimals(params.get("precision", 20), params.get("scale", 5))
    if code == "array":
        return [f"array[{value}]::{expr.rendered}" for value in postgres_extremes(expr.children["element"])]
    if code in ("time", "timestamp", "timestamptz", "interval"):
        fraction = _FRACTION[: params.get("precision", 6)]
        clock = "23:59:59" + (f".{fraction}" if fraction else "")
        days = {"time": "", "interval": "400 days "}.get(code, "2026-11-30 ")
        return [f"'{days}{clock}'"]
    if code == "varbit":
        return ["b'" + "1" * params.get("length", 70) + "'"]
    if code in ("real", "double_precision"):
        return ["'3.4028235e38'", "'1.17549435e-38'", "'0.1'"]
    length = params.get("length", 300)
    return ["'" + "ü" * length + "'", "'" + " " * length + "'"]


def mariadb_extremes(expr: TypeExpr) -> list[str]:
    code, params = expr.code or "", expr.params
    if code in _MARIADB_INTEGERS:
        bits = _MARIADB_INTEGERS[code]
        return (
            ["0", str(2**bits - 1)]
            if params.get("unsigned")
            else [str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)]
        )
    if code == "decimal":
        return _decimals(params["precision"], params["scale"])
    if code in ("float", "double"):
        return ["0.5", "-1234.125"]
    if code in ("datetime", "timestamp", "time"):
        fraction = _FRACTION[: params.get("fsp", 0)]
        return [
            ("'" if code == "time" else "'2026-11-30 ") + "23:59:59" + (f".{fraction}'" if fraction else "'")
        ]
    if code == "bit":
        return ["b'" + "1" * params["length"] + "'"]
    if code in ("enum", "set"):
        values = list(params["values"])
        return [f"'{value}'" for value in (values if code == "enum" else [*values, ",".join(values)])]
    if code == "point":
        return ["point(1, 2)"]
    letter = "x" if params.get("charset") == "latin1" or "b" in code else "😀"
    length = params.get("length", {"tinytext": 63, "text": 16_383, "tinyblob": 255}.get(code, 10))
    return ["'" + letter * length + "'"]


def _decimals(precision: int, scale: int) -> list[str]:
    digits = "9" * precision
    if scale <= 0:
        return [digits + "0" * -scale, f"-{digits}" + "0" * -scale]
    whole, fraction = digits[: max(precision - scale, 0)], digits[-scale:]
    return [f"{whole or 0}.{fraction}", f"-{whole or 0}.{fraction}"]


def _losses(
    connection: Connection, flavor: str, extremes: Callable[[TypeExpr], list[str]], lost: str
) -> dict[str, list[str]]:
    catalogue, found = bundled_catalogue(flavor), {}
    for pair in FITS[flavor]:
        old, new = pair.split(" > ")
        connection.exec_driver_sql("drop table if exists t")
        connection.exec_driver_sql(f"create table t (o {old}, n {new})")
        for value in extremes(parse(catalogue, old)):
            connection.exec_driver_sql(f"insert into t (o) values ({value})")
        connection.exec_driver_sql("update t set n = o")
        rows = connection.exec_driver_sql("select o, n from t where " + lost.format(old=old)).all()
        if rows:
            found[pair] = [str(row) for row in rows]
    return found


def test_what_fits_in_postgresql_comes_back_unchanged(postgres_server: PostgresServer) -> None:
    engine = create_engine(postgres_server.create_database(encoding="UTF8"))
    with engine.connect() as connection:
        losses = _losses(
            connection, "postgresql", postgres_extremes, "n is null or n::{old} is distinct from o"
        )
    engine.dispose()
    assert losses == {}


def test_what_fits_in_mariadb_comes_back_unchanged(mariadb_server: MariaDBServer) -> None:
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.connect() as connection:
        connection.exec_driver_sql("set sql_mode = 'STRICT_ALL_TABLES'")
        losses = _losses(connection, "mariadb", mariadb_extremes, "n is null or not (n <=> o)")
    engine.dispose()
    assert losses == {}
