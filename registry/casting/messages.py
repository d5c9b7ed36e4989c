"""Which types of messages suit a set of values: Avro, JSON Schema, Protobuf. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry.casting.fitting import Made, exact, floating, text_form, type_name
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

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def avro(values: Values, name: str) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "boolean", {}
        case Whole():
            yield from (("int", {}), ("long", {}), ("decimal", exact(values, 1000, 1000, (38, 0))))
        case Exact(whole=int(), scale=int(), digits=None):
            yield "decimal", exact(values, 1000, 1000, (38, 18))
        case Exact():
            yield "big_decimal", {}
        case Float():
            yield from floating(values, "float", "double")
        case Octets(fixed=True, length=int(length)):
            yield "fixed", {"name": type_name(name), "size": length}
        case Octets() | Named(name="geometry" | "bson"):
            yield "bytes", {}
        case Labels(labels=tuple(labels), several=False) if labels and all(map(_SYMBOL.fullmatch, labels)):
            yield "enum", {"name": type_name(name), "symbols": list(labels)}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield (
                ("time_millis" if values.fraction is not None and values.fraction <= 3 else "time_micros"),
                {},
            )
        case Moment():
            local = "local_" if values.zone == LOCAL else ""
            for unit in _units(values.fraction):
                yield f"{local}timestamp_{unit}", {}
        case Span():
            yield from (("duration", {}), ("string", {}))
        case Named(name="uuid"):
            yield "uuid", {}
        case Named(name="null"):
            yield "null", {}
        case Text() | Named(name="json" | "xml"):
            yield "string", {}
        case _:
            if text_form(values) is not None:
                yield "string", {}


def _units(fraction: int | None) -> tuple[str, ...]:
    if fraction is not None and fraction <= 6:
        return ("millis",) if fraction <= 3 else ("micros",)
    return "nanos", "micros"


def json_schema(values: Values, name: str) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "boolean", {}
        case Whole():
            yield from ((f"int{bits}", {}) for bits in (8, 16, 32, 64))
            yield "integer", {} if values.low is None else {"minimum": values.low}
        case Exact(whole=int(), scale=int(), digits=None):
            yield "decimal", exact(values, 1000, 1000, None)
        case Exact():
            yield "number", {}
        case Float():
            yield from floating(values, "float32", "float64")
        case Text():
            longest = length_in(values, "character")
            yield "string", {"maxLength": longest} if longest and longest <= 10_000 else {}
        case Octets() | Named(name="geometry" | "bson"):
            yield "bytes", {}
        case Labels(labels=tuple(labels), several=False) if labels:
            yield "enum", {"symbols": list(labels)}
        case Day():
            yield "date", {}
        case Clock(zone=True):
            yield "time", {}
        case Moment() if values.zone != LOCAL:
            yield "date_time", {}
        case Span():
            yield from (("duration", {}), ("string", {}))
        case Named(name="uuid"):
            yield "uuid", {}
        case Named(name="json"):
            yield "any", {}
        case Named(name="null"):
            yield "null", {}
        case Named(name="inet", written=int(written)) if written in (15, 45):
            yield ("ipv4" if written == 15 else "ipv6"), {}
        case _:
            if values == Named("xml") or text_form(values, network=True) is not None:
                yield "string", {}


def protobuf(values: Values, name: str) -> Iterator[Made]:
    match values:
        case Flag() | Bits(fixed=True, length=1):
            yield "bool", {}
        case Whole():
            yield from ((code, {}) for code in ("int32", "uint32", "int64", "uint64"))
            yield "decimal", exact(values, 1000, 1000, None)
        case Exact():
            yield "decimal", exact(values, 1000, 1000, None)
        case Float():
            yield from floating(values, "float", "double")
        case Octets() | Named(name="geometry" | "bson"):
            yield "bytes", {}
        case Day():
            yield "date", {}
        case Clock(zone=False):
            yield "time_of_day", {}
        case Moment() if values.zone != LOCAL:
            yield "timestamp", {}
        case Span():
            yield from (("duration", {}), ("string", {}))
        case Text() | Named(name="json" | "xml"):
            yield "string", {}
        case _:
            if text_form(values) is not None:
                yield "string", {}
