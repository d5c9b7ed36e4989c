"""Reads `name<…>` types: arrays, maps, structs and unions as Hive, Spark, Iceberg and Arrow write them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from registry.typesystem import generic
from registry.typesystem.model import TypeExpr
from registry.typesystem.reading import Found, Reading

_OPENING, _CLOSING = "<([{", ">)]}"
_QUOTES = "`\"'"
_NUMBER = re.compile(r"^\s*\d+\s*:\s*")
_STRESSED = re.compile(r"^\s*(optional|required)\s+", re.IGNORECASE)
_REMARKS = re.compile(r"\s+(comment\s+('(?:[^'\\]|''|\\.)*'|\"[^\"]*\")|not\s+null)\s*$", re.IGNORECASE)


def read(reading: Reading, *, element: str, names: Mapping[str, str]) -> Found | None:
    """A nested type, or what stands alone. `names` maps the words before `<` to codes; `element` is a list's slot."""
    text = without_remarks(reading.text)
    cut = cut_brackets(text, "<")
    if cut is None:
        return generic.read(Reading(reading.catalogue, _round(text), reading.told, reading.again))
    word, inner, rest = cut
    typedef = reading.catalogue.get(names.get(word.strip().lower(), ""))
    parts = split(inner)
    if typedef is None or parts is None or rest.strip():
        return None
    if typedef.has_named_parts:
        return (
            _struct(reading, typedef.code, parts)
            if _has_fields(typedef)
            else _union(reading, typedef.code, parts)
        )
    slots = [slot.name for slot in typedef.slots]
    if len(parts) != len(slots):
        return None
    children = {
        slot: reading.again(_bare(part, colon=slot == element), None)
        for slot, part in zip(slots, parts, strict=True)
    }
    return _found(typedef.code, {}, children)


def without_remarks(text: str) -> str:
    """The type without the comment and NOT NULL that may follow it."""
    before = None
    while before != text:
        before, text = text, _REMARKS.sub("", text)
    return text.strip()


def cut_brackets(text: str, opening: str) -> tuple[str, str, str] | None:
    """What stands before, in and behind the first brackets of this kind; None without them or when they stay open."""
    start = next((n for n, _ in _outside(text) if text[n] == opening), None)
    if start is None or any(mark in text[:start] for mark in _OPENING):
        return None
    depth = 0
    for n, _ in _outside(text):
        if n < start:
            continue
        depth += (text[n] in _OPENING) - (text[n] in _CLOSING)
        if depth == 0:
            return text[:start], text[start + 1 : n], text[n + 1 :]
    return None


def split(text: str, mark: str = ",") -> list[str] | None:
    """The parts between marks that stand in no brackets and no quotes; None when brackets do not match."""
    parts, depth, start = [], 0, 0
    for n, character in _outside(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0:
            return None
        if character == mark and depth == 0:
            parts.append(text[start:n])
            start = n + 1
    return None if depth else [*parts, text[start:]]


def _outside(text: str) -> list[tuple[int, str]]:
    """The characters that are in no quotes, with their places."""
    found, quote = [], ""
    for n, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        else:
            found.append((n, character))
    return found


def _has_fields(typedef: object) -> bool:
    return "fields" in getattr(typedef, "takes", ())


def _struct(reading: Reading, code: str, parts: list[str]) -> Found | None:
    children: dict[str, TypeExpr] = {}
    for part in parts:
        named = _field(part)
        if named is None or named[0] in children:
            return None
        children[named[0]] = reading.again(named[1], None)
    return _found(code, {"fields": list(children)}, children)


def _union(reading: Reading, code: str, parts: list[str]) -> Found | None:
    return _found(code, {}, {str(n): reading.again(part.strip(), None) for n, part in enumerate(parts)})


def _found(code: str, params: Mapping[str, object], children: Mapping[str, TypeExpr]) -> Found | None:
    return None if any(child.code is None for child in children.values()) else Found(code, params, children)


def _field(text: str) -> tuple[str, str] | None:
    """Name and type of `name: type`, `name type`, `1: name: optional type`."""
    text = _STRESSED.sub(" ", _NUMBER.sub("", text, count=1), count=1).strip()
    if text.startswith("`"):
        end = re.match(r"`(?:[^`]|``)*`", text)
        if end is None:
            return None
        name, rest = end.group()[1:-1].replace("``", "`"), text[end.end() :].lstrip()
    else:
        match = re.match(r"[^\s:<>(),]+", text)
        if match is None:
            return None
        name, rest = match.group().strip('"'), text[match.end() :].lstrip()
    rest = _STRESSED.sub(" ", rest.removeprefix(":"), count=1).strip()
    return (name, without_remarks(rest)) if name and rest else None


def _bare(text: str, *, colon: bool) -> str:
    """A list's element without the name that Arrow gives it, and a map's part without remarks."""
    text = _STRESSED.sub(" ", _NUMBER.sub("", text, count=1), count=1).strip()
    if colon:
        text = re.sub(r"^(element|item|array)\s*:\s*", "", text)
    return without_remarks(re.sub(r"\s*\('\w+'\)\s*$", "", text))


def _round(text: str) -> str:
    """`fixed[16]` as `fixed(16)`."""
    return re.sub(r"\[([^\[\]]*)\]\s*$", r"(\1)", text)
