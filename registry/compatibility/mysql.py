"""MySQL and MariaDB: which type holds every value of another. Pure; used by `registry.compatibility` only."""

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
from registry.typesystem.mysql import BLOB_BYTES, CHARSET_BYTES, TEXT_BYTES, charset_of

_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_FLOATS = ("float", "double")
_EXACT_BITS = {"float": 16, "double": 32}
_CHARACTERS = ("char", "varchar", *TEXT_BYTES)
_BYTES = ("binary", "varbinary", *BLOB_BYTES)
_UNICODE = ("utf8mb4", "utf16", "utf16le", "utf32")
_CLOCKS = ("datetime", "timestamp", "time")
_SHAPES = (
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
)


def rule(old: TypeExpr, new: TypeExpr) -> Fit | None:
    before, after = old.code or "", new.code or ""
    if before in _BITS and after in _BITS:
        return range_of_integers(_range(old), _range(new))
    if after == "decimal" and before in (*_BITS, "decimal"):
        return _decimal(old, new)
    if after in _FLOATS and before in (*_BITS, *_FLOATS):
        return _floating(old, new)
    if before in _CHARACTERS and after in _CHARACTERS:
        return _characters(old, new)
    if before in _BYTES and after in _BYTES:
        return _bytes(old, new)
    if {before, after} == {"datetime", "timestamp"}:
        return no("A timestamp moves with the time zone of the session, a datetime does not")
    if after == "geometry" and before in _SHAPES and new.params.get("srid") in (None, old.params.get("srid")):
        return wider(old, new)
    return _same_code(old, new) if before == after else None


def _same_code(old: TypeExpr, new: TypeExpr) -> Fit | None:
    code = old.code or ""
    if code in _CLOCKS:
        return fraction(old.params.get("fsp", 0), new.params.get("fsp", 0))
    if code == "bit":
        return length(old.params["length"], new.params["length"], "bits")
    if code in ("enum", "set"):
        return _entries(old, new)
    if code in _SHAPES or code == "geometry":
        return wider(old, new) if new.params.get("srid") is None else None
    return None


def _entries(old: TypeExpr, new: TypeExpr) -> Fit:
    had, has = list(old.params["values"]), list(new.params["values"])
    found = entries(had, has, "value")
    if found.ok and old.code == "set" and [each for each in has if each in set(had)] != had:
        return no("The values change places, so sets of them are written differently")
    return found


def _range(expr: TypeExpr) -> tuple[int, int]:
    bits = _BITS[expr.code or ""]
    return (0, 2**bits - 1) if expr.params.get("unsigned") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _decimal(old: TypeExpr, new: TypeExpr) -> Fit:
    signed = _no_sign(old, new)
    if signed:
        return signed
    scale = new.params["scale"]
    if old.code in _BITS:
        return digits(_digits(old), 0, new.params["precision"] - scale, scale)
    before = old.params["scale"]
    return digits(old.params["precision"] - before, before, new.params["precision"] - scale, scale)


def _floating(old: TypeExpr, new: TypeExpr) -> Fit:
    signed = _no_sign(old, new)
    if signed:
        return signed
    if (old.code in _BITS and _BITS[old.code or ""] > _EXACT_BITS[new.code or ""]) or (
        (old.code, new.code) == ("double", "float")
    ):
        return no(f"Long numbers would lose digits in {new.rendered}")
    if "precision" not in new.params:
        return wider(old, new)
    whole = new.params["precision"] - new.params["scale"]
    if old.code in _BITS:
        return digits(_digits(old), 0, whole, new.params["scale"])
    if "precision" not in old.params:
        return no(f"Digits after place {new.params['scale']} behind the point would be rounded away")
    before = old.params["scale"]
    return digits(old.params["precision"] - before, before, whole, new.params["scale"])


def _no_sign(old: TypeExpr, new: TypeExpr) -> Fit | None:
    if new.params.get("unsigned") and not old.params.get("unsigned"):
        return no("Negative numbers would not fit")
    return None


def _digits(expr: TypeExpr) -> int:
    low, high = _range(expr)
    return len(str(max(-low, high)))


def _characters(old: TypeExpr, new: TypeExpr) -> Fit:
    if new.code == "char" and old.code != "char":
        return no("Blanks at the end of a value would be cut")
    width = CHARSET_BYTES.get(charset_of(old.params), 1)
    if new.code in TEXT_BYTES:
        needs = TEXT_BYTES.get(old.code or "") or old.params["length"] * width
        return length(needs, TEXT_BYTES[new.code], "bytes")
    return length(TEXT_BYTES.get(old.code or "") or old.params["length"], new.params["length"])


def _bytes(old: TypeExpr, new: TypeExpr) -> Fit:
    if new.code == "binary":
        return no("Values would be filled up with zero bytes")
    size = BLOB_BYTES.get(old.code or "") or old.params["length"]
    most = BLOB_BYTES.get(new.code or "") or new.params["length"]
    found = length(size, most, "bytes")
    return yes(f"Up to {most} bytes fit") if found.ok else found


def holds_characters(old: TypeExpr, new: TypeExpr) -> bool:
    """Whether the character set of the new text has every character of the old one, and room for its bytes."""
    before, after = charset_of(old.params), charset_of(new.params)
    if before == after:
        return True
    if not (after in _UNICODE and before != "binary") and before != "ascii":
        return False
    most = TEXT_BYTES.get(old.code or "")
    return most is None or most * CHARSET_BYTES.get(after, 1) <= TEXT_BYTES.get(new.code or "", 0)
