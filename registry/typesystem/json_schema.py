"""Reads JSON Schemas as Kafka's registries keep them, with Connect's hints. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.typesystem import nested
from registry.typesystem.json_text import dump, load
from registry.typesystem.model import NOTHING, Catalogue
from registry.typesystem.reading import Found, Reading, text_list

_NAMES = {"array": "array", "map": "map"}
_FORMATS = {"date": "date", "time": "time", "date-time": "date_time", "duration": "duration", "uuid": "uuid",
            "email": "email", "uri": "uri", "ipv4": "ipv4", "ipv6": "ipv6"}  # fmt: skip
_NUMBERS = ("minimum", "maximum", "multipleOf")
_LENGTHS = ("minLength", "maxLength")
_TEXTS = (*_LENGTHS, "pattern")
_CONNECT = ("int8", "int16", "int32", "int64", "float32", "float64")
_DECIMAL = "org.apache.kafka.connect.data.Decimal"


def read(reading: Reading) -> Found | None:
    text = reading.text.strip()
    if text[:1] not in ("{", '"', "t"):
        typedef = reading.catalogue.find(text)
        return Found(typedef.code) if typedef else nested.read(reading, element="items", names=_NAMES)
    told = load(text)
    if isinstance(told, str):
        typedef = reading.catalogue.find(told)
        return Found(typedef.code) if typedef else None
    if told is True:
        return Found("any")
    if isinstance(told, Mapping):
        return _from_object(reading, told)
    typedef = reading.catalogue.find(text)
    return Found(typedef.code) if typedef else None


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for name in (*_NUMBERS, *_LENGTHS):
        value = params.get(name)
        if isinstance(value, float) and value.is_integer():
            params[name] = int(value)
    if params.get("minLength") == 0:
        params.pop("minLength")
    if "required" in params:
        required = [name for name in params.get("fields", ()) if name in params["required"]]
        params = {**params, "required": required}
        if not required:
            params.pop("required")
    return code, params


def _from_object(reading: Reading, told: Mapping[str, Any]) -> Found | None:
    if "$ref" in told:
        return None
    for word in ("oneOf", "anyOf"):
        if isinstance(told.get(word), list):
            return _parts(reading, "one_of", {str(n): each for n, each in enumerate(told[word])}, NOTHING)
    kind = told.get("type")
    if isinstance(kind, list):
        each = {str(n): {**told, "type": one} for n, one in enumerate(kind)}
        only = len(kind) == 1
        return _from_object(reading, each["0"]) if only else _parts(reading, "one_of", each, NOTHING)
    if "enum" in told or isinstance(told.get("const"), str):
        symbols = text_list(told.get("enum", [told.get("const")]))
        return Found("enum", {"symbols": symbols}) if symbols and kind in ("string", None) else None
    if kind is None:
        is_object = "properties" in told
        return _object(reading, told) if is_object else Found("any") if not set(told) - _REMARKS else None
    return _typed(reading, told, kind)


_REMARKS = {"title", "description", "$schema", "$id", "$comment", "default", "examples"}


def _typed(reading: Reading, told: Mapping[str, Any], kind: Any) -> Found | None:
    hint = told.get("connect.type")
    if kind in ("integer", "number"):
        if told.get("title") == _DECIMAL:
            return _decimal(told)
        if hint in _CONNECT:
            return Found(str(hint))
        return Found(kind, {name: told[name] for name in _NUMBERS if told.get(name) is not None})
    if kind == "string":
        if told.get("contentEncoding") == "base64" or hint == "bytes":
            return Found("bytes")
        if told.get("format") in _FORMATS:
            return Found(_FORMATS[told["format"]])
        return Found("string", {name: told[name] for name in _TEXTS if told.get(name) is not None})
    if kind == "array":
        return _parts(reading, "array", {"items": told.get("items", {})}, NOTHING)
    if kind == "object":
        return _object(reading, told)
    return Found(kind) if kind in ("boolean", "null") else None


def _decimal(told: Mapping[str, Any]) -> Found | None:
    found = {}
    given = told.get("connect.parameters")
    for name, key in (("scale", "scale"), ("precision", "connect.decimal.precision")):
        value = str(given.get(key, "")) if isinstance(given, Mapping) else ""
        if value.isdecimal() and len(value) < 5:
            found[name] = int(value)
    return Found("decimal", found)


def _object(reading: Reading, told: Mapping[str, Any]) -> Found | None:
    properties = told.get("properties")
    if isinstance(properties, Mapping) and properties:
        required = text_list(told.get("required")) or []
        params = {"fields": list(properties), **({"required": required} if required else {})}
        return _parts(reading, "object", properties, params)
    values = told.get("additionalProperties", True)
    return _parts(reading, "map", {"values": values}, NOTHING) if values is not False else None


def _parts(reading: Reading, code: str, types: Mapping[str, Any], params: Mapping[str, Any]) -> Found | None:
    children = {
        name: reading.again("{}" if each is True else dump(each), None) for name, each in types.items()
    }
    if not children or any(child.code is None for child in children.values()):
        return None
    return Found(code, params, children)
