"""PostgreSQL types: from catalogue rows to native spelling, kind and declared parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_KINDS = {"b": "base", "c": "composite", "d": "domain", "e": "enum", "r": "range", "m": "multirange"}
_HEADER = 4
GONE = "???"


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """What a field says of its type; shared by all fields of the same type and modifier."""

    native: str
    name: str
    schema: str
    kind: str
    parameters: dict[str, Any]
    not_null: bool

    @property
    def is_gone(self) -> bool:
        """Whether the type was dropped while it was read."""
        return self.native is None or GONE in self.native


class Types:
    """All types of one crawl, by oid and modifier."""

    def __init__(self, rows: Iterable[tuple[Any, ...]], *, version: int) -> None:
        self._rows = {(row[0], row[1]): row for row in rows}
        self._version = version
        self._facts: dict[tuple[int, int], TypeFacts] = {}
        self.readable: dict[tuple[int, int], TypeFacts] = {}

    def get(self, oid: int, modifier: int) -> TypeFacts | None:
        """The facts of a type, None where the catalogue no longer has it."""
        key = (oid, modifier)
        facts = self._facts.get(key)
        if facts is None and key in self._rows:
            facts = self._facts[key] = self._read(self._rows[key])
            if not facts.is_gone:
                self.readable[key] = facts
        return facts

    def _read(self, row: tuple[Any, ...]) -> TypeFacts:
        (_, modifier, native, name, schema, kind, is_array, element, base, base_modifier) = row[:10]
        (not_null, default, values, member_names, member_types, subtype, check_names, checks) = row[10:18]
        parameters: dict[str, Any] = {}
        if is_array:
            inner = self.get(element, modifier)
            if inner is None:
                return TypeFacts(GONE, name, schema, "array", {}, False)
            parameters["element"] = {
                "native_type": inner.native,
                "type_name": inner.name,
                "type_schema": inner.schema,
                "type_kind": inner.kind,
                "parameters": inner.parameters,
            }
            return TypeFacts(native, inner.name, inner.schema, "array", parameters, False)
        if kind == "d":
            inner = self.get(base, base_modifier)
            if inner is None:
                return TypeFacts(GONE, name, schema, "domain", {}, False)
            parameters = {
                "base_type": inner.native,
                "base_parameters": inner.parameters,
                "not_null": not_null,
                "default": default,
                "checks": [
                    {"name": check, "definition": text}
                    for check, text in zip(check_names, checks, strict=True)
                ],
            }
        elif kind == "e":
            parameters = {"values": values}
        elif kind == "c":
            members = zip(member_names, member_types, strict=True)
            parameters = {"attributes": [{"name": n, "native_type": t} for n, t in members]}
        elif kind in ("r", "m"):
            parameters = {"subtype": subtype}
        elif modifier >= 0:
            parameters = self._modifiers(name, schema, modifier, native)
        return TypeFacts(native, name, schema, _KINDS.get(kind, "base"), parameters, bool(not_null))

    def _modifiers(self, name: str, schema: str, modifier: int, native: str) -> dict[str, Any]:
        """The declared parameters of a base type, from its modifier as the server packs it."""
        if schema != "pg_catalog":
            return _written_modifiers(native)
        if name == "numeric":
            packed = modifier - _HEADER
            scale = packed & 0x7FF if self._version >= 150000 else packed & 0xFFFF
            if self._version >= 150000:
                scale = (scale ^ 1024) - 1024
            return {"precision": (packed >> 16) & 0xFFFF, "scale": scale}
        if name in ("varchar", "bpchar"):
            return {"length": modifier - _HEADER}
        if name in ("bit", "varbit"):
            return {"length": modifier}
        if name in ("time", "timetz", "timestamp", "timestamptz"):
            return {"precision": modifier}
        if name == "interval":
            return _interval(native)
        return _written_modifiers(native)


def _interval(native: str) -> dict[str, Any]:
    match = re.fullmatch(r"interval ?([a-z ]*?)\s*(?:\(([0-9]{1,18})\))?", native)
    if match is None:
        return {}
    parameters: dict[str, Any] = {}
    if match[1]:
        parameters["fields"] = match[1]
    if match[2] is not None:
        parameters["precision"] = int(match[2])
    return parameters


def _written_modifiers(native: str) -> dict[str, Any]:
    """The modifiers of any other type, as the server writes them."""
    start = native.rfind("(")
    if start < 0 or not native.endswith(")"):
        return {}
    return {"modifiers": [part.strip() for part in native[start + 1 : -1].split(",")]}
