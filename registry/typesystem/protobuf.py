"""Reads the types of Protobuf fields. Pure.

`enum Name {A,B}` and `message Name {type name; …}` are how AIDE writes the two kinds of named types; a bare name of
one is read with the field's `type_kind`.
"""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem import generic, nested
from registry.typesystem.model import NOTHING, Catalogue
from registry.typesystem.reading import Found, Reading

_LABELS = re.compile(r"^(optional|required)\s+", re.IGNORECASE)
_NAMED = re.compile(r"(enum|message|oneof)\b\s*([\w.]*)\s*(\{.*\})?\s*", re.DOTALL)
_NAME = re.compile(r"\.?[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FIELD = re.compile(r"\s*(?P<type>.+?)\s+(?P<name>[A-Za-z_]\w*)\s*(?:=\s*\d+\s*(?:\[.*\])?)?\s*", re.DOTALL)


def read(reading: Reading) -> Found | None:
    text = _LABELS.sub("", reading.text.strip())
    if text.lower().startswith("repeated "):
        child = reading.again(text[9:], None)
        return Found("repeated", NOTHING, {"element": child}) if child.code else None
    named = _NAMED.fullmatch(text)
    if named:
        return _named(reading, named[1], named[2].lstrip("."), named[3])
    if text.lower().replace(" ", "").startswith("map<"):
        return nested.read(reading, element="", names={"map": "map"})
    known = _known(reading, text.removeprefix("."))
    if known is not None:
        return known
    kind = reading.told.get("type_kind")
    if kind in ("enum", "message") and _NAME.fullmatch(text):
        return Found(str(kind), {"type_name": text.lstrip(".")})
    return None


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if code == "decimal" and "precision" in params:
        params.setdefault("scale", 0)
    return code, params


def _known(reading: Reading, text: str) -> Found | None:
    """A scalar or well-known type; messages of Google's and Confluent's packages keep their names' case."""
    bare = text.partition("(")[0].strip()
    typedef = reading.catalogue.find(bare)
    if typedef is None or (typedef.name != bare and bare not in typedef.aliases):
        return None
    if typedef.slots or "type_name" in typedef.takes:
        return None
    if "(" not in text:
        return Found(typedef.code)
    return generic.read(Reading(reading.catalogue, text, reading.told, reading.again))


def _named(reading: Reading, kind: str, name: str, body: str | None) -> Found | None:
    params: dict[str, Any] = {"type_name": name} if name else {}
    inner = body[1:-1].strip() if body else ""
    if kind == "enum":
        symbols = [part.partition("=")[0].strip() for part in re.split("[,;]", inner) if part.strip()]
        return Found("enum", {**params, "symbols": symbols} if symbols else params)
    children = {}
    for part in nested.split(inner, ";") or ():
        if not part.strip():
            continue
        field = _FIELD.fullmatch(part)
        if field is None or field["name"] in children:
            return None
        children[field["name"]] = reading.again(field["type"], None)
    if any(child.code is None for child in children.values()):
        return None
    if children:
        params["fields"] = list(children)
    if kind == "oneof":
        params.pop("type_name", None)
    return Found(kind, params, children)
