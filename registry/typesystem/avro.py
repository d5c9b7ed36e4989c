"""Reads Avro schemas: JSON, bare names, and the short names of logical types. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.typesystem import nested
from registry.typesystem.json_text import dump, load
from registry.typesystem.model import NOTHING, Catalogue
from registry.typesystem.reading import Found, Reading

_NAMES = {"array": "array", "map": "map"}
_BASES = {
    "decimal": ("bytes", "fixed"), "big-decimal": ("bytes",), "uuid": ("string", "fixed"), "date": ("int",),
    "time-millis": ("int",), "time-micros": ("long",), "timestamp-millis": ("long",),
    "timestamp-micros": ("long",), "timestamp-nanos": ("long",), "local-timestamp-millis": ("long",),
    "local-timestamp-micros": ("long",), "local-timestamp-nanos": ("long",), "duration": ("fixed",),
}  # fmt: skip


def read(reading: Reading) -> Found | None:
    text = reading.text.strip()
    if text[:1] not in ("{", "[", '"'):
        typedef = reading.catalogue.find(text)
        return Found(typedef.code) if typedef else nested.read(reading, element="items", names=_NAMES)
    told = load(text)
    if isinstance(told, str):
        typedef = reading.catalogue.find(told)
        return Found(typedef.code) if typedef else None
    if isinstance(told, list):
        return _parts(reading, "union", {str(n): each for n, each in enumerate(told)}, NOTHING)
    return _from_object(reading, told) if isinstance(told, Mapping) else None


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    name = params.get("name")
    if isinstance(name, str) and "." in name:
        params["namespace"], _, params["name"] = name.rpartition(".")
    if code == "decimal":
        params.setdefault("scale", 0)
    if code == "duration" and params.get("name") == "duration" and "namespace" not in params:
        params.pop("name")
    return code, params


def _from_object(reading: Reading, told: Mapping[str, Any]) -> Found | None:
    kind = told.get("type")
    if isinstance(kind, Mapping | list):
        found = reading.again(dump(kind), None)
        return Found(found.code, found.params, found.children) if found.code else None
    named = _named(told)
    logical = _logical(told)
    if logical is not None:
        return Found(logical[0], {**logical[1], **(named if kind == "fixed" else {})})
    if kind == "array":
        return _parts(reading, "array", {"items": told.get("items")}, NOTHING)
    if kind == "map":
        return _parts(reading, "map", {"values": told.get("values")}, NOTHING)
    if kind == "record" or kind == "error":
        fields = told.get("fields")
        if not isinstance(fields, list) or not all(isinstance(f, Mapping) and f.get("name") for f in fields):
            return None
        types = {str(f["name"]): f.get("type") for f in fields}
        return _parts(reading, "record", types, {**named, "fields": list(types)})
    if kind == "enum":
        return Found("enum", {**named, "symbols": told.get("symbols")})
    if kind == "fixed":
        return Found("fixed", {**named, "size": told.get("size")})
    typedef = reading.catalogue.find(kind) if isinstance(kind, str) else None
    return Found(typedef.code) if typedef and not typedef.takes and typedef.code not in _BASES else None


def _logical(told: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Code and parameters of a logical type; None where it is absent or does not suit its base, as Avro asks."""
    name, kind = told.get("logicalType"), told.get("type")
    if name not in _BASES or kind not in _BASES[name]:
        return None
    size = {"size": told.get("size")} if kind == "fixed" else {}
    if name == "decimal":
        precision, scale = told.get("precision"), told.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision:
            return None
        return "decimal", {"precision": precision, "scale": scale, **size}
    if name == "duration":
        return ("duration", {}) if size["size"] == 12 else None
    if name == "uuid" and kind == "fixed" and size["size"] != 16:
        return None
    return str(name).replace("-", "_"), size


def _named(told: Mapping[str, Any]) -> dict[str, Any]:
    name, space = told.get("name"), told.get("namespace")
    if isinstance(name, str) and "." in name:
        space, _, name = name.rpartition(".")
    return {key: value for key, value in (("name", name), ("namespace", space)) if value}


def _parts(reading: Reading, code: str, types: Mapping[str, Any], params: Mapping[str, Any]) -> Found | None:
    children = {name: reading.again(dump(each), None) for name, each in types.items() if each is not None}
    if len(children) < len(types) or any(child.code is None for child in children.values()):
        return None
    return Found(code, params, children) if children else None
