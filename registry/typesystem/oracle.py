"""Reads Oracle's spellings (DDL and the data dictionary) and knows which parameters mean the same. Pure."""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem.lexing import Shape, shape, tokens
from registry.typesystem.model import NOTHING, Catalogue, fold
from registry.typesystem.reading import Found, Reading, as_text, positional, without

_INTEGERS = ("integer", "int", "smallint")
_INTERVAL = re.compile(
    r"interval (?:(?P<ym>year) ?(?:\( ?(?P<years>[0-9]{1,18}) ?\))? to month"
    r"|day ?(?:\( ?(?P<days>[0-9]{1,18}) ?\))? to second ?(?:\( ?(?P<fsp>[0-9]{1,18}) ?\))?)"
)
_ANY_PRECISION = re.compile(r"\(\s*\*\s*([,)])")
_NAME = r"(?:[A-Za-z][\w$#]*|\"[^\"]+\")"
_USER = re.compile(rf"(?P<kind>object|varray|table|ref)\s+(?P<name>{_NAME}(?:\.{_NAME})?)", re.IGNORECASE)
_FIXED_POINT = ("decimal", "dec", "numeric")  # NUMBER alone takes fractions, these do not
_CODES = {"object": "object", "varray": "varray", "table": "nested_table", "ref": "ref"}
_KINDS = {
    "object": "object",
    "composite": "object",
    "varray": "varray",
    "nested_table": "nested_table",
    "ref": "ref",
}


def read(reading: Reading) -> Found | None:
    text = reading.text.strip()
    interval = _INTERVAL.fullmatch(fold(text))
    if interval:
        if interval["ym"]:
            return Found("interval_ym", _numbers(precision=interval["years"]))
        return Found("interval_ds", _numbers(precision=interval["days"], fsp=interval["fsp"]))
    user = _USER.fullmatch(text)
    if user:
        return Found(_CODES[user["kind"].lower()], {"type_name": _folded(user["name"])})
    pieces = tokens(_ANY_PRECISION.sub(lambda match: "(38," if match[1] == "," else "", text))
    cut = shape(pieces) if pieces else None
    if cut is None:
        return None
    found = _base(reading.catalogue, cut)
    kind = as_text(reading.told.get("type_kind"))
    if found is None and kind in _KINDS and re.fullmatch(rf"{_NAME}(?:\.{_NAME})?", text):
        return Found(_KINDS[kind], {"type_name": _folded(text)})
    return found


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code in ("char", "nchar"):
        params.setdefault("length", 1)
    if code == "number" and "precision" in params:
        params.setdefault("scale", 0)
    if code == "urowid":
        params = without(params, length=4000)
    if code == "float":
        params.setdefault("precision", 126)
    if code in ("timestamp", "timestamptz", "timestampltz"):
        params = without(params, precision=6)
    if code == "interval_ym":
        params = without(params, precision=2)
    if code == "interval_ds":
        params = without(params, precision=2, fsp=6)
    if code == "vector" and params.get("format") == "float32":
        params.pop("format")
    return code, without(params, unit="byte")


def _base(catalogue: Catalogue, cut: Shape) -> Found | None:
    name = " ".join(token.raw for token in (*cut.name, *cut.tail)).lower().replace(" . ", ".")
    arguments = cut.arguments or ()
    if name in (*_INTEGERS, *_FIXED_POINT) and not arguments:
        return Found("number", {"precision": 38, "scale": 0})
    if name in ("real", "double precision") and not arguments:
        return Found("float", {"precision": 63 if name == "real" else 126})
    typedef = catalogue.find(name)
    if typedef is None or "type_name" in typedef.takes:
        return None
    words = [[token.text.lower() for token in argument] for argument in arguments]
    if typedef.code in ("char", "varchar2") and len(words) == 1 and len(words[0]) == 2:
        return _sized(typedef.code, *words[0])
    if typedef.code == "vector" and words:
        return _vector(words)
    takes = [each for each in positional(typedef) if each in typedef.takes]
    if len(words) > len(takes) or any(len(each) != 1 or not _whole(each[0]) for each in words):
        return None
    return Found(typedef.code, {name: int(each[0]) for name, each in zip(takes, words, strict=False)})


def _sized(code: str, length: str, unit: str) -> Found | None:
    return (
        Found(code, {"length": int(length), "unit": unit})
        if _whole(length) and unit in ("byte", "char")
        else None
    )


def _vector(words: list[list[str]]) -> Found | None:
    if not all(len(each) == 1 for each in words) or not _whole(words[0][0]) or len(words) > 2:
        return None
    return Found("vector", {"dimensions": int(words[0][0]), **({"format": words[1][0]} if words[1:] else {})})


def _whole(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]{1,9}", text) is not None


def _folded(name: str) -> str:
    return ".".join(part if part.startswith('"') else part.upper() for part in re.findall(_NAME, name))


def _numbers(**given: str | None) -> dict[str, Any]:
    return {name: int(value) for name, value in given.items() if value is not None} or dict(NOTHING)
