"""Reads declared types of SQLite by its affinity rules: any text, even none, is a type. Pure."""

from __future__ import annotations

from typing import Any

from registry.typesystem.lexing import Shape, shape, tokens
from registry.typesystem.model import Catalogue, TypeDef
from registry.typesystem.reading import Found, Reading, as_text, positional

_BY_AFFINITY = {
    "INTEGER": "integer",
    "TEXT": "text",
    "BLOB": "blob",
    "REAL": "real",
    "NUMERIC": "numeric",
    "NONE": "any",
}


def affinity(declared: str) -> str:
    """The affinity of a declared type outside of STRICT tables (sqlite.org/datatype3.html, 3.1)."""
    name = declared.upper()
    if "INT" in name:
        return "INTEGER"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if "BLOB" in name or not name.strip():
        return "BLOB"
    if any(part in name for part in ("REAL", "FLOA", "DOUB")):
        return "REAL"
    return "NUMERIC"


def read(reading: Reading) -> Found | None:
    declared = reading.text
    told = as_text(reading.parameters.get("affinity")).upper()
    kind = told if told in _BY_AFFINITY else affinity(declared)
    pieces = tokens(declared)
    cut = shape(pieces) if pieces else None
    if cut is not None:
        typedef = _named(reading.catalogue, cut, kind, strict=told in ("", "NONE"))
        if typedef is not None:
            return Found(typedef.code, _arguments(typedef, cut))
    return Found(_BY_AFFINITY[kind])


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if "precision" in params:
        params.setdefault("scale", 0)
    return code, params


def _named(catalogue: Catalogue, cut: Shape, kind: str, *, strict: bool) -> TypeDef | None:
    """The type of that name, when it has the affinity that the engine goes by."""
    words = cut.words
    for spelling in (words, words.split(" ")[0]):
        typedef = catalogue.find(spelling)
        if typedef is None:
            continue
        if typedef.code == "any":
            return typedef if strict else None
        if affinity(typedef.name) == kind:
            return typedef
    return None


def _arguments(typedef: TypeDef, cut: Shape) -> dict[str, Any]:
    numbers = cut.numbers
    takes = positional(typedef)
    if not numbers or len(numbers) > len(takes) or numbers[0] < 0:
        return {}
    return dict(zip(takes, numbers, strict=False))
