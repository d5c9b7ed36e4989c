"""Native spelling → one normal type, for every flavor. Pure; nothing here raises on a type it does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.typesystem import (
    avro,
    delimited,
    generic,
    hive,
    iceberg,
    json_schema,
    mysql,
    oracle,
    parquet,
    postgresql,
    protobuf,
    sqlite,
    sqlserver,
)
from registry.typesystem.model import ANY_NAME, NOTHING, Catalogue, Slot, TypeExpr, TypeSystemError
from registry.typesystem.params import check_params
from registry.typesystem.parts import take_spelled
from registry.typesystem.reading import Found, Reading
from registry.typesystem.rendering import write

_DEEPEST = 40
# Nobody writes so many blanks on end, and the readers' patterns would try each of them in turn.
_MANY_BLANKS = re.compile(r"\s{200}")
_REMEMBERED = 5000
Mark = tuple[str, str, str, str, str]
_MATTERS = ("type_name", "type_schema", "type_kind", "parameters")


@dataclass(frozen=True)
class _Flavor:
    read: Callable[[Reading], Found | None]
    normal: Callable[[Catalogue, str, dict[str, Any]], tuple[str, dict[str, Any]]]


_GENERIC = _Flavor(generic.read, generic.normal)
_FLAVORS = {
    "postgresql": _Flavor(postgresql.read, postgresql.normal),
    "mysql": _Flavor(mysql.read, mysql.normal),
    "mariadb": _Flavor(mysql.read, mysql.normal_mariadb),
    "sqlite": _Flavor(sqlite.read, sqlite.normal),
    "hive": _Flavor(hive.read, hive.normal),
    "iceberg": _Flavor(iceberg.read, iceberg.normal),
    "kafka_avro": _Flavor(avro.read, avro.normal),
    "kafka_json": _Flavor(json_schema.read, json_schema.normal),
    "kafka_protobuf": _Flavor(protobuf.read, protobuf.normal),
    "parquet": _Flavor(parquet.read, parquet.normal),
    "csv": _Flavor(delimited.read, delimited.normal),
    "oracle": _Flavor(oracle.read, oracle.normal),
    "sqlserver": _Flavor(sqlserver.read, sqlserver.normal),
}


def parse(catalogue: Catalogue, native_type: str, *, field: Mapping[str, Any] | None = None) -> TypeExpr:
    """The type that a native spelling means.

    `field` is the document's field: its `type_kind`, `type_name`, `type_schema` and `parameters` tell what the
    spelling alone cannot (user types, character sets). An unknown type has code None and is rendered as spelled.
    """
    try:
        key = ("type", native_type, *(mark_of(field)[1:] if field else ()))
        found = catalogue.memory.get(key)
        if found is None:
            told = {name: field[name] for name in _MATTERS if field.get(name)} if field else {}
            json.dumps(told)  # whatever is no JSON is told of no type
            found = remember(catalogue, key, _parse(catalogue, native_type, told, depth=0))
    except (TypeError, ValueError, RecursionError):
        return _unknown(native_type)
    return found


def mark_of(field: Mapping[str, Any]) -> Mark:
    """All that a document's field tells of its type: fields with equal marks have equal types."""
    parameters = field.get("parameters")
    return (
        field.get("native_type") or "",
        field.get("type_name") or "",
        field.get("type_schema") or "",
        field.get("type_kind") or "",
        repr(parameters) if parameters else "",
    )


def remember(catalogue: Catalogue, key: tuple[Any, ...], value: Any) -> Any:
    """Keep what was found out about a type, as long as there is room."""
    if len(catalogue.memory) >= _REMEMBERED:
        catalogue.memory.clear()
    catalogue.memory[key] = value
    return value


def build(
    catalogue: Catalogue,
    code: str,
    params: Mapping[str, Any] = NOTHING,
    children: Mapping[str, TypeExpr] = NOTHING,
    *,
    native: str | None = None,
) -> TypeExpr:
    """The normal form of a type given by code: defaults that only say what holds anyway are left out.

    Raises `TypeSystemError` for a code that the catalogue lacks. The parameters are taken as they are:
    `check_params` comes first.
    """
    typedef = catalogue.get(code)
    if typedef is None:
        raise TypeSystemError(f"The catalogue of {catalogue.flavor} has no type {code}")
    flavor = _FLAVORS.get(catalogue.flavor, _GENERIC)
    params = {name: value for name, value in params.items() if value is not None}
    children = dict(children)
    if typedef.has_named_parts:
        spelled_parts, params = take_spelled(params)
        for name, spelled in spelled_parts.items():
            children.setdefault(name, parse(catalogue, spelled))
    for slot in typedef.slots:
        spelled = params.pop(slot.name, None)
        if slot.name not in children and isinstance(spelled, str):
            children[slot.name] = parse(catalogue, spelled)
    becomes, normal = flavor.normal(catalogue, code, params)
    if becomes != code:
        return build(catalogue, becomes, normal, children, native=native)
    try:
        rendered = write(typedef, normal, children)
    except TypeSystemError:
        rendered = " ".join((native or typedef.name).split())
    return TypeExpr(code, normal, children, rendered if native is None else native, rendered)


def _parse(catalogue: Catalogue, native: str, field: Mapping[str, Any], *, depth: int) -> TypeExpr:
    if not isinstance(native, str) or depth > _DEEPEST or _MANY_BLANKS.search(native):
        return _unknown(native)

    def again(text: str, inner: Mapping[str, Any] | None) -> TypeExpr:
        return _parse(catalogue, text, inner or {}, depth=depth + 1)

    flavor = _FLAVORS.get(catalogue.flavor, _GENERIC)
    found = flavor.read(Reading(catalogue, native, field, again))
    typedef = catalogue.get(found.code) if found else None
    if found is None or typedef is None or check_params(typedef, found.params, reported=True):
        return _unknown(native)
    if any(_is_missing(slot, found) for slot in typedef.slots):
        return _unknown(native)
    return build(catalogue, found.code, found.params, found.children, native=native)


def _is_missing(slot: Slot, found: Found) -> bool:
    given = slot.name in found.children or slot.name in found.params
    return slot.required and slot.name != ANY_NAME and not given


def _unknown(native: Any) -> TypeExpr:
    text = native if isinstance(native, str) else str(native)
    return TypeExpr(None, native=text, rendered=text)
