"""Which types of warehouses and files suit a set of values: Hive, Iceberg, Parquet, CSV. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from registry.casting.fitting import Made, exact, floating, text_form
from registry.values import (
    Bits,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
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


def hive(values: Values) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "boolean", {}
        case Whole():
            yield from ((code, {}) for code in ("tinyint", "smallint", "int", "bigint"))
            yield "decimal", exact(values, 38, 38, (38, 0))
        case Exact():
            yield "decimal", exact(values, 38, 38, (38, 18))
        case Float():
            yield from floating(values, "float", "double")
        case Text():
            yield _hive_text(values)
        case Octets() | Named(name="geometry" | "bson"):
            yield "binary", {}
        case Day():
            yield "date", {}
        case Moment():
            yield "timestamp" if values.zone == LOCAL else "timestamp_ltz", {}
        case Named(name="json" | "xml"):
            yield "string", {}
        case _:
            if text_form(values) is not None:
                yield "string", {}


def _hive_text(text: Text) -> Made:
    longest = length_in(text, "character")
    if longest is None or not 0 < longest <= _LONGEST_VARCHAR:
        return "string", {}
    return "char" if text.padded and longest <= 255 else "varchar", {"length": longest}


def iceberg(values: Values) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "boolean", {}
        case Whole():
            yield from (("int", {}), ("long", {}), ("decimal", exact(values, 38, 38, (38, 0))))
        case Exact():
            yield "decimal", exact(values, 38, 38, (38, 18))
        case Float():
            yield from floating(values, "float", "double")
        case Octets(fixed=True, length=int(length)) if length > 0:
            yield "fixed", {"length": length}
        case Octets() | Named(name="geometry" | "bson"):
            yield "binary", {}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield "time", {}
        case Moment():
            code = "timestamp" if values.zone == LOCAL else "timestamptz"
            if values.fraction is None or values.fraction > 6:
                yield f"{code}_ns", {}
            yield code, {}
        case Named(name="uuid"):
            yield "uuid", {}
        case Text() | Named(name="json" | "xml"):
            yield "string", {}
        case _:
            if text_form(values) is not None:
                yield "string", {}


def parquet(values: Values) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "boolean", {}
        case Whole():
            for width in (8, 16, 32, 64):
                yield "int", {"bit_width": width, "signed": True}
                yield "int", {"bit_width": width, "signed": False}
            yield "decimal", exact(values, 38, 38, (38, 0))
        case Exact():
            yield "decimal", exact(values, 38, 38, (38, 18))
        case Float(bits=11):
            yield from (("float16", {}), ("float", {}))
        case Float():
            yield from floating(values, "float", "double")
        case Octets(fixed=True, length=int(length)) if length > 0:
            yield "fixed_len_byte_array", {"length": length}
        case Octets():
            yield "byte_array", {}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            for unit in _units(values.fraction):
                yield "time", {"unit": unit, "utc": False}
        case Moment():
            for unit in _units(values.fraction):
                yield "timestamp", {"unit": unit, "utc": values.zone != LOCAL}
        case Span():
            yield from (("interval", {}), ("string", {}))
        case Named(name="uuid" | "json" | "bson" | "geometry"):
            yield values.name, {}
        case Text() | Named(name="xml"):
            yield "string", {}
        case _:
            if text_form(values) is not None:
                yield "string", {}


def _units(fraction: int | None) -> tuple[str, ...]:
    """The unit that keeps the fraction; where it might not keep the years, the next larger one as well."""
    if fraction is not None and fraction <= 6:
        return ("millis",) if fraction <= 3 else ("micros",)
    return "nanos", "micros"


def csv(values: Values) -> Iterator[Made]:
    match values:
        case Flag():
            yield "boolean", {}
        case Whole():
            yield "integer", {}
        case Exact():
            yield "decimal", exact(values, 1000, 1000, None)
        case Float():
            yield "float", {}
        case Text():
            longest = length_in(values, "character")
            yield "string", {"length": longest} if longest and longest <= _LONGEST_VARCHAR else {}
        case Octets() | Named(name="geometry" | "bson"):
            yield "binary", {}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield "time", {}
        case Moment():
            yield "datetime", {}
        case Named(name="json" | "xml"):
            yield "string", {}
        case _:
            if text_form(values, network=True) is not None:
                yield "string", {}
