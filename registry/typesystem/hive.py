"""Reads the types of Hive. Pure."""

from __future__ import annotations

from typing import Any

from registry.typesystem import nested
from registry.typesystem.model import Catalogue
from registry.typesystem.reading import Found, Reading

_NAMES = {"array": "array", "map": "map", "struct": "struct", "uniontype": "uniontype"}


def read(reading: Reading) -> Found | None:
    found = nested.read(reading, element="element", names=_NAMES)
    if found is None or found.code != "struct":
        return found
    # Hive folds the names of a struct's fields.
    children = {name.lower(): child for name, child in found.children.items()}
    return (
        Found("struct", {"fields": list(children)}, children)
        if len(children) == len(found.children)
        else None
    )


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "decimal":
        params = {"precision": 10, **params}
        params.setdefault("scale", 0)
    return code, params
