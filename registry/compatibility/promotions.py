"""Warehouses, messages, files, Oracle and SQL Server: which type holds every value of another. Pure.

Most engines go by the values that a type can hold; Iceberg, Avro and Protobuf allow what their specifications list
(Iceberg: schema evolution; Avro: schema resolution; Protobuf: updating a message type). Used by
`registry.compatibility` only.
"""

from __future__ import annotations

from collections.abc import Callable

from registry.compatibility.fit import Fit, Rule, no, wider, yes
from registry.typesystem import Catalogue, TypeExpr
from registry.typesystem.parts import in_order
from registry.values import (
    LOSSLESS,
    Bits,
    Clock,
    Day,
    Exact,
    Float,
    Labels,
    Moment,
    Octets,
    Span,
    Text,
    Whole,
    judge,
    values_of,
)

_ALIKE = {
    (kind, kind) for kind in (Whole, Exact, Float, Text, Octets, Bits, Day, Clock, Moment, Span, Labels)
} | {(Whole, Exact), (Whole, Float)}
_KEPT_AS_TOLD = (
    "pattern",
    "minLength",
    "format",
    "collection",
    "type_name",
    "name",
    "namespace",
    "crs",
    "algorithm",
)
"""Parameters that must not change, unless the new type lets them go."""


def rule_for(catalogue: Catalogue) -> Rule | None:
    """The rule of the catalogue's flavor; None for flavors that have modules of their own, and unknown ones."""
    scalar = _SCALARS.get(catalogue.flavor)
    return None if scalar is None else lambda old, new: _fits(catalogue, scalar, old, new)


Scalar = Callable[[Catalogue, TypeExpr, TypeExpr], Fit | None]


def _fits(catalogue: Catalogue, scalar: Scalar, old: TypeExpr, new: TypeExpr) -> Fit | None:
    if old == new:
        return yes("The type stays")
    logical = [typedef.logical_type if (typedef := catalogue.get(each.code)) else "" for each in (old, new)]
    if "union" in logical and catalogue.flavor in ("kafka_avro", "kafka_json"):
        return _choice(catalogue, scalar, old, new, logical)
    if old.code == new.code and old.children and new.children:
        return _parts(catalogue, scalar, old, new)
    return scalar(catalogue, old, new)


def _choice(
    catalogue: Catalogue, scalar: Scalar, old: TypeExpr, new: TypeExpr, logical: list[str]
) -> Fit | None:
    """Every type of the old union must be read by one of the new one."""
    before = [part for _, part in in_order(old)] if logical[0] == "union" else [old]
    after = [part for _, part in in_order(new)] if logical[1] == "union" else [new]
    for part in before:
        found = [_fits(catalogue, scalar, part, each) for each in after]
        if not any(fit is not None and fit.ok for fit in found):
            return no(f"{part.rendered} is none of the types that are left")
    return yes("Every type that was possible still is")


def _parts(catalogue: Catalogue, scalar: Scalar, old: TypeExpr, new: TypeExpr) -> Fit | None:
    told = {name: old.params.get(name) for name in ("name", "namespace", "type_name")}
    if any(new.params.get(name) != value for name, value in told.items()):
        return None
    had, has = old.params.get("fields") or list(old.children), new.params.get("fields") or list(new.children)
    missing = [name for name in had if name not in new.children]
    if missing:
        return no(f"The part {missing[0]} is gone")
    if catalogue.flavor in _BY_PLACE and has[: len(had)] != had:
        return no("The parts change places")
    added = [name for name in has if name not in had]
    if added and (catalogue.flavor in _NEEDS_DEFAULTS or added[0] in new.params.get("required", ())):
        return no(f"The part {added[0]} is not in old values")
    if set(new.params.get("required", ())) - set(old.params.get("required", ())):
        return no("A part that could be missing is required now")
    for name in had:
        before, after = old.children[name], new.children[name]
        fit = _fits(catalogue, scalar, before, after)
        if fit is None or not fit.ok:
            why = fit.why if fit else f"{before.rendered} cannot always be read as {after.rendered}"
            return no(f"Of {name}: {why[0].lower()}{why[1:]}")
    return yes("Every part fits")


_BY_PLACE = ("hive",)
_NEEDS_DEFAULTS = ("kafka_avro",)


def _by_values(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    before, after = values_of(catalogue, old), values_of(catalogue, new)
    if before is None or after is None or (type(before), type(after)) not in _ALIKE:
        return None
    for name in _KEPT_AS_TOLD:
        if name in new.params and new.params[name] != old.params.get(name):
            return None
    if isinstance(before, Text) and isinstance(after, Text) and after.padded and before != after:
        return no("Values are filled up with blanks, or lose those at the end")
    verdict = judge(before, after)
    return Fit(verdict.safety == LOSSLESS, verdict.why)


def _iceberg(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    pair = (old.code, new.code)
    if pair in (("int", "long"), ("float", "double")) or old.code == "unknown":
        return wider(old, new)
    return _wider_decimal(old, new) if pair == ("decimal", "decimal") else None


def _wider_decimal(old: TypeExpr, new: TypeExpr) -> Fit:
    if old.params.get("scale", 0) != new.params.get("scale", 0):
        return no("The scale is not kept with each value, so it must stay")
    if new.params["precision"] < old.params["precision"]:
        return no(f"Numbers of more than {new.params['precision']} digits do not fit")
    return wider(old, new)


def _avro(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    pair = (old.code, new.code)
    if pair in (("int", "long"), ("int", "double"), ("float", "double")):
        return wider(old, new)
    if pair in (("int", "float"), ("long", "float"), ("long", "double")):
        return no(f"Long numbers would lose digits in {new.rendered}")
    if (
        pair == ("decimal", "decimal")
        and _same_names(old, new)
        and old.params.get("size") == new.params.get("size")
    ):
        return _wider_decimal(old, new)
    if pair == ("enum", "enum") and _same_names(old, new):
        return _by_values(catalogue, old, new)
    return None


def _same_names(old: TypeExpr, new: TypeExpr) -> bool:
    return all(old.params.get(name) == new.params.get(name) for name in ("name", "namespace"))


_VARINTS = ("int32", "int64", "uint32", "uint64")
_WIDER_ON_THE_WIRE = {("sint32", "sint64"), ("enum", "enum")}


def _protobuf(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    pair = (old.code or "", new.code or "")
    if (pair[0] in _VARINTS and pair[1] in _VARINTS) or pair in _WIDER_ON_THE_WIRE:
        return _by_values(catalogue, old, new)
    return None


def _json(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    if new.code == "any":
        return yes("Any value may stand there")
    pair = (old.code, new.code)
    if pair == ("integer", "number") and not new.params:
        return wider(old, new)
    if "multipleOf" in new.params and new.params["multipleOf"] != old.params.get("multipleOf"):
        return None
    if old.code in ("string", "enum") and new.code == "string" and not set(new.params) - {"maxLength"}:
        longest, limit = _longest(old), new.params.get("maxLength")
        if limit is None or (longest is not None and longest <= limit):
            return wider(old, new)
        return no(f"Texts of more than {limit} characters do not fit")
    numbers = pair == ("number", "number")
    if numbers and _within(old, new):
        return wider(old, new)
    return None if numbers else _by_values(catalogue, old, new)


def _longest(expr: TypeExpr) -> int | None:
    symbols = expr.params.get("symbols")
    return max(map(len, symbols)) if symbols else expr.params.get("maxLength")


def _within(old: TypeExpr, new: TypeExpr) -> bool:
    low, high = new.params.get("minimum"), new.params.get("maximum")
    had_low, had_high = old.params.get("minimum"), old.params.get("maximum")
    return (low is None or (had_low is not None and had_low >= low)) and (
        high is None or (had_high is not None and had_high <= high)
    )


def _delimited(catalogue: Catalogue, old: TypeExpr, new: TypeExpr) -> Fit | None:
    if old.params.get("format") != new.params.get("format"):
        return no("The values are written in another way")
    return _by_values(catalogue, old, new)


_SCALARS: dict[str, Scalar] = {
    "hive": _by_values,
    "iceberg": _iceberg,
    "parquet": _by_values,
    "csv": _delimited,
    "oracle": _by_values,
    "sqlserver": _by_values,
    "kafka_avro": _avro,
    "kafka_json": _json,
    "kafka_protobuf": _protobuf,
}
