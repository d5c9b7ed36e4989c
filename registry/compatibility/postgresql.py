"""PostgreSQL: which type holds every value of another. Pure; used by `registry.compatibility` only."""

from __future__ import annotations

from registry.compatibility.fit import (
    Fit,
    digits,
    entries,
    fraction,
    length,
    no,
    range_of_integers,
    wider,
    yes,
)
from registry.typesystem import TypeExpr

_RANGES = {
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
}
_DIGITS = {"smallint": 5, "integer": 10, "bigint": 19}
_EXACT_IN = {"real": ("smallint",), "double_precision": ("smallint", "integer", "real")}
_TEXTS = ("varchar", "text")
_CLOCKS = ("time", "timetz", "timestamp", "timestamptz")
_ZONES = {("timestamp", "timestamptz"), ("timestamptz", "timestamp"), ("time", "timetz"), ("timetz", "time")}
_ANY_SECONDS = 6


def rule(old: TypeExpr, new: TypeExpr) -> Fit | None:
    pair = (old.code or "", new.code or "")
    if pair[0] in _RANGES and pair[1] in _RANGES:
        return range_of_integers(_RANGES[pair[0]], _RANGES[pair[1]])
    if pair[1] == "numeric" and pair[0] in (*_DIGITS, "numeric"):
        return _numeric(old, new)
    if pair[1] in _EXACT_IN:
        return _floating(old, new)
    if pair[0] in _TEXTS and pair[1] in _TEXTS:
        return length(old.params.get("length"), new.params.get("length"))
    if pair in _ZONES:
        return no("A time with and one without a time zone do not mean the same moment")
    if pair[0] == pair[1]:
        return _same_code(old, new)
    return None


def _same_code(old: TypeExpr, new: TypeExpr) -> Fit | None:
    code = old.code
    if code == "varbit":
        return length(old.params.get("length"), new.params.get("length"), "bits")
    if code in _CLOCKS:
        return fraction(old.params.get("precision", _ANY_SECONDS), new.params.get("precision", _ANY_SECONDS))
    if code == "interval":
        return _interval(old, new)
    if code == "array":
        return _array(old, new)
    if code in ("enum", "domain") and old.params.get("type_name") != new.params.get("type_name"):
        return None
    if code == "enum":
        known = "labels" in old.params and "labels" in new.params
        return entries(list(old.params["labels"]), list(new.params["labels"]), "value") if known else None
    if code == "domain":
        return _domain(old, new)
    if code in ("char", "bpchar") and old.params.get("length") == new.params.get("length"):
        return wider(old, new)
    return None


def _numeric(old: TypeExpr, new: TypeExpr) -> Fit:
    precision, scale = new.params.get("precision"), new.params.get("scale", 0)
    if precision is None:
        return yes("A numeric without limits holds every number")
    if old.code in _DIGITS:
        return digits(_DIGITS[old.code or ""], 0, precision - scale, scale)
    if old.params.get("precision") is None:
        return no(f"Numbers with more than {precision - scale} digits before the point would not fit")
    before = old.params.get("scale", 0)
    return digits(old.params["precision"] - before, before, precision - scale, scale)


def _floating(old: TypeExpr, new: TypeExpr) -> Fit | None:
    if old.code in _EXACT_IN[new.code or ""]:
        return wider(old, new)
    if old.code in (*_DIGITS, "numeric", "double_precision"):
        return no(f"Long numbers would lose digits in {new.rendered}")
    return None


def _interval(old: TypeExpr, new: TypeExpr) -> Fit:
    had, has = old.params.get("fields"), new.params.get("fields")
    if has is not None and has != had:
        return no(f"Only the part {has} would be kept")
    return fraction(_seconds(old), _seconds(new))


def _seconds(interval: TypeExpr) -> int:
    """Digits of the fraction; none when the interval ends before the seconds."""
    ends_early = not interval.params.get("fields", "second").endswith("second")
    return 0 if ends_early else interval.params.get("precision", _ANY_SECONDS)


def _array(old: TypeExpr, new: TypeExpr) -> Fit | None:
    before, after = old.children.get("element"), new.children.get("element")
    if before is None or after is None:
        return None
    if before == after:
        return wider(old, new)
    found = rule(before, after)
    return Fit(found.ok, f"Of each element: {found.why[0].lower()}{found.why[1:]}") if found else None


def _domain(old: TypeExpr, new: TypeExpr) -> Fit | None:
    if new.params.get("not_null") and not old.params.get("not_null"):
        return no("The domain no longer takes empty values")
    if not set(new.params.get("check", ())) <= set(old.params.get("check", ())):
        return no("The domain checks more than before")
    before, after = old.children.get("base"), new.children.get("base")
    if before == after:
        return yes("The domain takes every value that it took")
    if before is None or after is None or before.params.get("collation") != after.params.get("collation"):
        return None
    return rule(before, after)
