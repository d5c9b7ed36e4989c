"""Reads SQL Server's spellings and knows which parameters mean the same. Pure."""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem.lexing import shape, tokens
from registry.typesystem.model import Catalogue
from registry.typesystem.reading import Found, Reading, positional, without

_BRACKETED = re.compile(
    r"^\s*(?:\[?sys\]?\s*\.\s*(?P<bare>\w+)|(?:\[?sys\]?\s*\.\s*)?\[(?P<name>[^\[\]]+)\])", re.IGNORECASE
)
_SIZED = ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary")
_XML = re.compile(r"xml\s*\(\s*(?:(?:content|document)\s+)?(?P<collection>[^()]+?)\s*\)", re.IGNORECASE)


def read(reading: Reading) -> Found | None:
    text = _BRACKETED.sub(lambda match: match["bare"] or match["name"], reading.text.strip())
    xml = _XML.fullmatch(text)
    if xml:
        return Found("xml", {"collection": xml["collection"].replace("[", "").replace("]", "")})
    pieces = tokens(text)
    cut = shape(pieces) if pieces else None
    if cut is None:
        return None
    name = cut.words
    arguments = cut.arguments or ()
    if len(arguments) == 1 and [token.text.lower() for token in arguments[0]] == ["max"]:
        typedef = reading.catalogue.find(name)
        return Found(typedef.code, {"length": "max"}) if typedef else None
    numbers = cut.numbers
    if numbers is None:
        return None
    if name in ("float", "double precision") and len(numbers) == 1:
        if not 1 <= numbers[0] <= 53:
            return None
        return Found("real" if numbers[0] <= 24 else "float")
    typedef = reading.catalogue.find(name)
    takes = positional(typedef) if typedef else []
    if typedef is None or len(numbers) > len(takes):
        return None
    return Found(typedef.code, dict(zip(takes, numbers, strict=False)))


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "decimal":
        params = {"precision": 18, **params}
        params.setdefault("scale", 0)
    if code in _SIZED:
        params.setdefault("length", 1)
    return code, without(params, precision=7) if code in ("time", "datetime2", "datetimeoffset") else params
