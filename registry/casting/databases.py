"""Which types of databases suit a set of values: PostgreSQL, MySQL, MariaDB, SQLite, Oracle, SQL Server. Pure.

Each function yields (code, parameters) from the closest type to the widest one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.casting.fitting import Made, digits, exact, floating, text_form
from registry.values import (
    Bits,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Moment,
    Named,
    Octets,
    Span,
    Text,
    Values,
    Whole,
)
from registry.values.model import LOCAL
from registry.values.texts import length_in

_LONGEST_VARCHAR = 10_000


def postgresql(values: Values) -> Iterator[Made]:
    match values:
        case Flag():
            yield "boolean", {}
        case Whole():
            yield from (
                ("smallint", {}),
                ("integer", {}),
                ("bigint", {}),
                ("numeric", exact(values, 1000, 1000, None)),
            )
        case Exact():
            yield "numeric", exact(values, 1000, 1000, None)
        case Float():
            yield from floating(values, "real", "double_precision")
        case Text():
            yield from _postgresql_text(values)
        case Octets():
            yield "bytea", {}
        case Bits(fixed=True, length=int()):
            yield "bit", {"length": values.length}
        case Bits():
            yield "varbit", {"length": values.length} if values.length else {}
        case Day():
            yield "date", {}
        case Clock():
            yield "timetz" if values.zone else "time", digits(values.fraction, 6)
        case Moment():
            yield "timestamp" if values.zone == LOCAL else "timestamptz", digits(values.fraction, 6)
        case Span():
            yield "interval", digits(values.fraction, 6)
        case Named(name="json"):
            yield "jsonb", {}
        case Named(name="uuid" | "xml" | "inet" | "macaddr" | "macaddr8"):
            yield values.name, {}
        case Named(name="geometry" | "bson"):
            yield "bytea", {}
        case _:
            if (form := text_form(values)) is not None:
                yield from _postgresql_text(form)


def _postgresql_text(text: Text) -> Iterator[Made]:
    longest = length_in(text, "character")
    if longest is not None and 0 < longest <= _LONGEST_VARCHAR:
        yield "char" if text.padded and text.characters != "ascii" else "varchar", {"length": longest}
    else:
        yield "text", {}


def mysql(values: Values) -> Iterator[Made]:
    match values:
        case Flag():
            yield "boolean", {}
        case Whole():
            for code in ("tinyint", "smallint", "mediumint", "int", "bigint"):
                yield code, {}
                yield code, {"unsigned": True}
            yield "decimal", exact(values, 65, 30, (65, 0))
        case Exact():
            yield "decimal", exact(values, 65, 30, (65, 30))
        case Float():
            yield from floating(values, "float", "double")
        case Text():
            yield from _mysql_text(values)
        case Octets():
            yield from _mysql_octets(values)
        case Bits(fixed=True, length=int(length)) if length <= 64:
            yield "bit", {"length": length}
        case Labels(labels=tuple(labels)) if (
            labels and all(labels) and (not values.several or len(labels) <= 64)
        ):
            yield "set" if values.several else "enum", {"values": list(labels)}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield "time", digits(values.fraction, 6, name="fsp")
        case Moment():
            yield "datetime" if values.zone == LOCAL else "timestamp", digits(values.fraction, 6, name="fsp")
        case Named(name="json"):
            yield "json", {}
        case Named(name="geometry", variant="mysql"):
            yield "geometry", {}
        case Named(name="geometry" | "bson"):
            yield "longblob", {}
        case Named(name="uuid"):
            yield "uuid", {}
            yield "char", {"length": 36}
        case Named(name="inet") if values.variant != "text":
            yield "inet6", {}
        case _:
            if (form := text_form(values)) is not None:
                yield from _mysql_text(form)


def _mysql_text(text: Text) -> Iterator[Made]:
    longest = length_in(text, "character")
    if longest is not None and text.padded and text.characters != "ascii" and 0 < longest <= 255:
        yield "char", {"length": longest}
    elif longest is not None and 0 < longest <= 16_383:
        yield "varchar", {"length": longest}
    else:
        yield from (("text", {}), ("mediumtext", {}), ("longtext", {}))


def _mysql_octets(octets: Octets) -> Iterator[Made]:
    if octets.length is not None and octets.fixed and 0 < octets.length <= 255:
        yield "binary", {"length": octets.length}
    elif octets.length is not None and 0 < octets.length <= 16_383:
        yield "varbinary", {"length": octets.length}
    else:
        yield from (("blob", {}), ("mediumblob", {}), ("longblob", {}))


def sqlite(values: Values) -> Iterator[Made]:
    match values:
        case Flag():
            yield "boolean", {}
        case Whole():
            yield from (("integer", {}), ("text", {}))
        case Exact():
            yield "decimal", exact(values, 10**6, 10**6, None)
        case Float():
            yield "real", {}
        case Text(length=None):
            yield "text", {}
        case Text():
            code = "char" if values.padded and values.characters != "ascii" else "varchar"
            yield code, {"length": length_in(values, "character")}
        case Octets():
            yield "blob", {}
        case Day():
            yield "date", {}
        case Clock():
            yield "time", {}
        case Moment():
            yield "datetime", {}
        case Named(name="json"):
            yield "json", {}
        case Named(name="geometry" | "bson"):
            yield "blob", {}
        case _:
            if text_form(values, network=True) is not None:
                yield "text", {}


def oracle(values: Values) -> Iterator[Made]:
    match values:
        case Flag():
            yield "number", {"precision": 1, "scale": 0}
        case Whole() | Exact():
            yield "number", exact(values, 38, 127, None)
        case Float():
            yield from floating(values, "binary_float", "binary_double")
        case Text():
            yield _oracle_text(values)
        case Octets(length=int(length)) if 0 < length <= 2000 and values.fixed:
            yield "raw", {"length": length}
        case Octets():
            yield "blob", {}
        case Bits(fixed=True, length=1):
            yield "number", {"precision": 1, "scale": 0}
        case Day():
            yield "date", {}
        case Moment():
            yield "timestamp" if values.zone == LOCAL else "timestamptz", digits(values.fraction, 9)
        case Span(days=0, seconds=False):
            yield "interval_ym", {"precision": 9}
        case Span(months=0):
            yield "interval_ds", {"precision": 9, **digits(values.fraction, 9, name="fsp")}
        case Named(name="json"):
            yield "clob", {}
        case Named(name="xml"):
            yield "xmltype", {}
        case Named(name="geometry" | "bson"):
            yield "blob", {}
        case Named(name="uuid"):
            yield "char", {"length": 36}
        case _:
            if (form := text_form(values)) is not None:
                yield _oracle_text(form)


def _oracle_text(text: Text) -> Made:
    longest, by_bytes = length_in(text, "character"), length_in(text, "byte")
    if text.unit == "byte" and text.length is not None and text.length <= 4000:
        code = "char" if text.padded and text.length <= 2000 else "varchar2"
        return code, {"length": max(text.length, 1)}
    if longest is None or by_bytes is None or by_bytes > 4000:
        return "clob", {}
    padded = text.padded and text.characters != "ascii" and by_bytes <= 2000
    return "char" if padded else "varchar2", {"length": max(longest, 1), "unit": "char"}


def sqlserver(values: Values) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "bit", {}
        case Whole():
            yield from ((code, {}) for code in ("tinyint", "smallint", "int", "bigint"))
            yield "decimal", exact(values, 38, 38, (38, 0))
        case Exact():
            yield "decimal", exact(values, 38, 38, (38, 18))
        case Float():
            yield from floating(values, "real", "float")
        case Text():
            yield _sqlserver_text(values)
        case Octets(length=int(length)) if 0 < length <= 8000:
            yield "binary" if values.fixed else "varbinary", {"length": length}
        case Octets():
            yield "varbinary", {"length": "max"}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield "time", digits(values.fraction, 7)
        case Moment():
            yield "datetime2" if values.zone == LOCAL else "datetimeoffset", digits(values.fraction, 7)
        case Named(name="json"):
            yield "nvarchar", {"length": "max"}
        case Named(name="xml"):
            yield "xml", {}
        case Named(name="geometry" | "bson"):
            yield "varbinary", {"length": "max"}
        case Named(name="uuid"):
            yield "uniqueidentifier", {}
        case Named(name="hierarchy"):
            yield "hierarchyid", {}
        case _:
            if (form := text_form(values)) is not None:
                yield _sqlserver_text(form)


def _sqlserver_text(text: Text) -> Made:
    longest = length_in(text, "utf16")
    if longest is None or longest > 4000:
        return "nvarchar", {"length": "max"}
    params: dict[str, Any] = {"length": max(longest, 1)}
    return "nchar" if text.padded and text.characters != "ascii" else "nvarchar", params
