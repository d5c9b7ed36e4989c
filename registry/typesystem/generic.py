"""Reads `name(arguments)` for flavors without rules of their own; arguments stand in the usual order. Pure."""

from __future__ import annotations

from typing import Any

from registry.typesystem.lexing import shape, tokens
from registry.typesystem.model import Catalogue
from registry.typesystem.reading import Found, Reading, positional


def read(reading: Reading) -> Found | None:
    pieces = tokens(reading.text)
    cut = shape(pieces) if pieces else None
    if cut is None:
        return None
    words = " ".join(token.raw for token in (*cut.name, *cut.tail))
    typedef = reading.catalogue.find(words.replace(" . ", "."))
    takes = positional(typedef) if typedef else []
    if typedef is None or cut.numbers is None or len(cut.numbers) > len(takes):
        return None
    return Found(typedef.code, dict(zip(takes, cut.numbers, strict=False)))


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return code, params
