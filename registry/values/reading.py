"""A concrete type → the values that it holds, by its logical type and its engine's habits. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from registry.typesystem import Catalogue, TypeExpr, parse
from registry.typesystem.parts import in_order
from registry.values import limits
from registry.values.limits import HABITS, Habits, text_of_flavor
from registry.values.model import (
    INSTANT,
    LOCAL,
    Bits,
    Choice,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Listed,
    Mapped,
    Moment,
    Named,
    Octets,
    Record,
    Span,
    Text,
    Values,
    Whole,
)

_DEEPEST = 40
_WRITTEN = {"uuid": 36, "macaddr": 17, "inet": 43, "money": 40, "null": 0}
_ALONE = ("json", "xml", "inet", "macaddr", "uuid", "text_search", "money", "range", "multirange", "geometry", "bson",
          "variant", "opaque", "null")  # fmt: skip
_NOT_WRITABLE = ("geometry", "bson", "variant", "opaque")


def values_of(
    catalogue: Catalogue, expr: TypeExpr, *, writing: bool = False, depth: int = 0
) -> Values | None:
    """What the type holds; None for a type that is not known well enough.

    `writing` asks what could be stored in it, which for types that engines do not enforce is more.
    """
    typedef = catalogue.get(expr.code)
    if typedef is None or depth > _DEEPEST:
        return None
    habits = HABITS.get(catalogue.flavor, Habits())
    special = limits.special(catalogue.flavor, expr, writing=writing)
    if special is not None:
        return special
    logical = typedef.logical_type
    nested = _NESTED.get(logical)
    if nested is not None:
        return nested(catalogue, expr, writing, depth)
    if logical in ("string", "string_fixed"):
        return text_of_flavor(catalogue.flavor, expr, padded=logical == "string_fixed")
    simple = _SIMPLE.get(logical)
    if simple is not None:
        return simple(expr.params, habits)
    if logical in limits.RANGES:
        low, high = limits.RANGES[logical]
        return Whole(0, high - low) if expr.params.get("unsigned") else Whole(low, high)
    if logical in _ALONE:
        return Named(
            logical, _WRITTEN.get(logical), logical not in _NOT_WRITABLE, _variant(logical, catalogue, expr)
        )
    return None


def _variant(logical: str, catalogue: Catalogue, expr: TypeExpr) -> str:
    """What tells types of one name apart that do not hold the same."""
    if logical in ("range", "multirange"):
        return f"{catalogue.flavor} {expr.code}"
    if logical == "geometry":
        return "mysql" if catalogue.flavor == "mariadb" else catalogue.flavor
    return catalogue.flavor if logical in ("opaque", "variant", "text_search", "money") else ""


def _decimal(params: Mapping[str, Any], habits: Habits) -> Values:
    signed = not params.get("unsigned")
    if params.get("precision") is None:
        scale = params.get("scale")
        return Exact(None, scale, signed=signed, specials=habits.decimal_specials)
    scale = int(params.get("scale", 0))
    return Exact(int(params["precision"]) - scale, scale, signed=signed)


def _float(bits: int) -> Callable[[Mapping[str, Any], Habits], Values]:
    return lambda params, habits: Float(bits, habits.float_specials, not params.get("unsigned"))


def _date(params: Mapping[str, Any], habits: Habits) -> Values:
    return Day(*habits.days, infinity=habits.infinity)


def _time(zone: bool) -> Callable[[Mapping[str, Any], Habits], Values]:
    return lambda params, habits: Clock(_fraction(params, habits), *habits.clock, zone=zone)


def _timestamp(zone: str) -> Callable[[Mapping[str, Any], Habits], Values]:
    return lambda params, habits: Moment(
        zone, _fraction(params, habits), *habits.moments, infinity=habits.infinity
    )


def _fraction(params: Mapping[str, Any], habits: Habits) -> int | None:
    told = params.get("precision", params.get("fsp"))
    return int(told) if isinstance(told, int) else habits.fraction


def _labels(several: bool) -> Callable[[Mapping[str, Any], Habits], Values]:
    def read(params: Mapping[str, Any], habits: Habits) -> Values:
        told = next((params[key] for key in ("labels", "values", "symbols") if params.get(key)), None)
        return Labels(tuple(told) if told else None, several)

    return read


def _bytes(fixed: bool) -> Callable[[Mapping[str, Any], Habits], Values]:
    def read(params: Mapping[str, Any], habits: Habits) -> Values:
        length = params.get("length", params.get("size"))
        return Octets(length if isinstance(length, int) else None, fixed and isinstance(length, int))

    return read


_SIMPLE: dict[str, Callable[[Mapping[str, Any], Habits], Values]] = {
    "boolean": lambda params, habits: Flag(),
    "integer": lambda params, habits: Whole(
        None if params.get("minimum") is None else math.ceil(params["minimum"]),
        None if params.get("maximum") is None else math.floor(params["maximum"]),
    ),
    "number": lambda params, habits: Exact(None, None),
    "decimal": _decimal,
    "float16": _float(11),
    "float32": _float(24),
    "float64": _float(53),
    "date": _date,
    "time": _time(False),
    "time_tz": _time(True),
    "timestamp": _timestamp(LOCAL),
    "timestamp_tz": _timestamp(INSTANT),
    "interval": lambda params, habits: Span(None, None, fraction=_fraction(params, habits)),
    "enum": _labels(False),
    "set": _labels(True),
    "bytes": _bytes(False),
    "bytes_fixed": _bytes(True),
    "bits": lambda params, habits: Bits(params.get("length")),
    "year": lambda params, habits: Whole(0, 2155),
}


def _child(catalogue: Catalogue, expr: TypeExpr, names: tuple[str, ...]) -> TypeExpr | None:
    return next((expr.children[name] for name in names if name in expr.children), None)


def _array(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    child = _child(catalogue, expr, ("element", "items"))
    if child is None:
        return Named("opaque", writable=False, variant=catalogue.flavor)
    element = values_of(catalogue, child, writing=writing, depth=depth + 1)
    return Listed(element) if element is not None else None


def _map(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    value = _child(catalogue, expr, ("value", "values"))
    if value is None:
        return Mapped(Text(), Text())
    key = _child(catalogue, expr, ("key",))
    held = values_of(catalogue, value, writing=writing, depth=depth + 1)
    keys = values_of(catalogue, key, writing=writing, depth=depth + 1) if key is not None else Text()
    return Mapped(keys, held) if keys is not None and held is not None else None


def _struct(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    parts = in_order(expr) or [
        (str(each["name"]), parse(catalogue, str(each["type"])))
        for each in expr.params.get("attributes") or ()
        if isinstance(each, Mapping) and "name" in each and "type" in each
    ]
    if not parts:
        return Named("opaque", writable=False, variant=catalogue.flavor)
    fields = [(name, values_of(catalogue, part, writing=writing, depth=depth + 1)) for name, part in parts]
    if any(held is None for _, held in fields):
        return None
    return Record(tuple((name, held) for name, held in fields if held is not None))


def _union(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    held = [values_of(catalogue, part, writing=writing, depth=depth + 1) for _, part in in_order(expr)]
    return Choice(tuple(each for each in held if each is not None)) if None not in held else None


def _domain(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    base = expr.children.get("base")
    if base is None:
        return Named("opaque", writable=False, variant=catalogue.flavor)
    return values_of(catalogue, base, writing=writing, depth=depth + 1)


def _vector(catalogue: Catalogue, expr: TypeExpr, writing: bool, depth: int) -> Values | None:
    wide = expr.params.get("format") == "float64"
    return Listed(Float(53 if wide else 24, specials=False), expr.params.get("dimensions"))


_NESTED: dict[str, Callable[[Catalogue, TypeExpr, bool, int], Values | None]] = {
    "array": _array,
    "map": _map,
    "struct": _struct,
    "union": _union,
    "domain": _domain,
    "vector": _vector,
}
