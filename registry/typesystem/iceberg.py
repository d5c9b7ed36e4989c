"""Reads the types of Iceberg: the specification's names, its JSON, and Spark's. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from registry.typesystem import nested
from registry.typesystem.json_text import dump, load
from registry.typesystem.model import Catalogue
from registry.typesystem.reading import Found, Reading

_NAMES = {"list": "list", "array": "list", "map": "map", "struct": "struct"}
_PLACED = re.compile(r"(geometry|geography)\s*(?:\(\s*([^(),]*?)\s*(?:,\s*(\w+)\s*)?\))?\s*", re.IGNORECASE)


def read(reading: Reading) -> Found | None:
    if reading.text.lstrip().startswith("{"):
        return _from_json(reading)
    placed = _PLACED.fullmatch(reading.text.strip())
    if placed:
        told = {"crs": placed[2] or None, "algorithm": (placed[3] or "").lower() or None}
        return Found(placed[1].lower(), {name: value for name, value in told.items() if value})
    return nested.read(reading, element="element", names=_NAMES)


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "decimal":
        params.setdefault("scale", 0)
    return code, params


def _from_json(reading: Reading) -> Found | None:
    told = load(reading.text)
    if not isinstance(told, Mapping):
        return None
    kind = told.get("type")
    if kind == "struct" and isinstance(told.get("fields"), list):
        fields = [f for f in told["fields"] if isinstance(f, Mapping) and isinstance(f.get("name"), str)]
        if len(fields) != len(told["fields"]):
            return None
        children = {f["name"]: reading.again(dump(f.get("type")), None) for f in fields}
        params: dict[str, Any] = {"fields": list(children)}
    else:
        slots = {"list": ("element",), "map": ("key", "value")}.get(str(kind), ())
        children = {slot: reading.again(dump(told.get(slot)), None) for slot in slots}
        params = {}
    if not children or any(child.code is None for child in children.values()):
        return None
    return Found(str(kind), params, children)
