"""SQLite: affinities, and the lengths that were declared. Pure; used by `registry.compatibility` only.

The engine does not hold to declared lengths, but a declaration is what readers go by: a shorter one is no widening.
"""

from __future__ import annotations

from registry.compatibility.fit import Fit, digits, length, no, wider, yes
from registry.typesystem import TypeExpr

_TEXTS = ("char", "varchar", "text")
_NUMBERS = ("numeric", "decimal")
_INTEGER_DIGITS = 19


def rule(old: TypeExpr, new: TypeExpr) -> Fit | None:
    before, after = old.code or "", new.code or ""
    if after == "any" and before in _TEXTS:
        return no("Texts that look like numbers become numbers, except in a strict table")
    if after == "any":
        return yes("A column of any type keeps every value as it is")
    if (before in _TEXTS and after in _TEXTS) or before == after == "blob":
        unit = "bytes" if before == "blob" else "characters"
        return length(old.params.get("length"), new.params.get("length"), unit)
    if after in _NUMBERS and before in (*_NUMBERS, "integer", "real"):
        return _number(old, new)
    if (before, after) == ("integer", "real"):
        return no("Long whole numbers would lose digits")
    return None


def _number(old: TypeExpr, new: TypeExpr) -> Fit:
    precision, scale = new.params.get("precision"), new.params.get("scale", 0)
    if precision is None:
        return wider(old, new)
    if old.code == "integer":
        return digits(_INTEGER_DIGITS, 0, precision - scale, scale)
    if old.params.get("precision") is None:
        return no(f"Numbers with more than {precision - scale} digits before the point would not fit")
    before = old.params.get("scale", 0)
    return digits(old.params["precision"] - before, before, precision - scale, scale)
