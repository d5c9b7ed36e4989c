"""Field paths: one text for the way from a top-level field to a nested one; nobody else splits or joins them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r'[^."]+')
_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


def field_path(names: Sequence[str]) -> str:
    """Names joined by dots; a name that is empty or holds a dot or a double quote is SQL-quoted."""
    return ".".join(name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"' for name in names)


def split_path(path: str) -> tuple[str, ...]:
    """The inverse of `field_path`; ValueError for a text that `field_path` does not write."""
    names: list[str] = []
    at = 0
    while True:
        match = _PART.match(path, at)
        if match is None:
            raise ValueError(f"not a field path: {path!r}")
        quoted, plain = match.groups()
        names.append(quoted.replace('""', '"') if plain is None else plain)
        at = match.end()
        if at == len(path):
            break
        if path[at] != ".":
            raise ValueError(f"not a field path: {path!r}")
        at += 1
    if field_path(names) != path:
        raise ValueError(f"not a field path: {path!r}")
    return tuple(names)


def walk(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field as (path, field), parents before their nested fields, in document order."""
    stack: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        ((field["name"],), field) for field in reversed(document.get("fields") or ())
    ]
    while stack:
        names, field = stack.pop()
        yield field_path(names), field
        stack.extend(((*names, nested["name"]), nested) for nested in reversed(field.get("fields") or ()))
