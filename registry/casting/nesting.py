"""How each flavor writes lists, maps, records and choices, when their parts are known. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.casting.fitting import identity, type_name
from registry.typesystem import Catalogue, TypeExpr, build

Nested = tuple[str, dict[str, Any], dict[str, TypeExpr]]
Parts = list[tuple[str, TypeExpr]]
"""(name, type): `element` of a list, `key` and `value` of a map, field names of a record, numbers of a choice."""


@dataclass(frozen=True)
class Style:
    """Codes and slots of a flavor's nested types; an empty code is a family that it does not have."""

    array: str = ""
    element: str = "element"
    map: str = ""
    values: str = "value"
    has_keys: bool = True
    record: str = ""
    choice: str = ""
    flat: frozenset[str] = frozenset()
    """Types that cannot be a list's element or a map's value."""
    keys: frozenset[str] = frozenset()
    """The only types that a map's key may have; empty: any that is not nested."""
    names: bool = False
    """Records have a name of their own, and their fields' names are those of programs."""


STYLES: Mapping[str, Style] = {
    "hive": Style("array", map="map", record="struct", choice="uniontype"),
    "iceberg": Style("list", map="map", record="struct"),
    "parquet": Style("list", map="map", record="struct"),
    "kafka_avro": Style("array", "items", "map", "values", False, "record", "union", names=True),
    "kafka_json": Style("array", "items", "map", "values", False, "object", "one_of"),
    "kafka_protobuf": Style(
        "repeated", "element", "map", "value", True, "message", "",
        flat=frozenset({"repeated", "map"}),
        keys=frozenset({"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
                        "sfixed64", "bool", "string"}),
        names=True,
    ),
    "postgresql": Style("array", flat=frozenset({"array"})),
}  # fmt: skip
JSON_TYPES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "postgresql": ("jsonb", {}),
    "mysql": ("json", {}),
    "mariadb": ("json", {}),
    "sqlite": ("json", {}),
    "oracle": ("clob", {}),
    "sqlserver": ("nvarchar", {"length": "max"}),
    "hive": ("string", {}),
    "iceberg": ("string", {}),
    "parquet": ("json", {}),
    "kafka_avro": ("string", {}),
    "kafka_json": ("any", {}),
    "kafka_protobuf": ("string", {}),
    "csv": ("string", {}),
}
"""What holds a nested value as JSON, where the flavor has nothing closer."""


def list_of(catalogue: Catalogue, parts: Parts) -> Nested | None:
    style = STYLES.get(catalogue.flavor, Style())
    ((_, element),) = parts
    if not style.array or element.code in style.flat:
        return None
    return style.array, {}, {style.element: _nullable(catalogue, element)}


def map_of(catalogue: Catalogue, parts: Parts) -> Nested | None:
    style = STYLES.get(catalogue.flavor, Style())
    (_, key), (_, value) = parts
    if not style.map or value.code in style.flat or key.children:
        return None
    if style.keys and key.code not in style.keys:
        return None
    keys = {"key": key} if style.has_keys else {}
    return style.map, {}, {**keys, style.values: _nullable(catalogue, value)}


def record_of(catalogue: Catalogue, parts: Parts, name: str) -> Nested | None:
    style = STYLES.get(catalogue.flavor, Style())
    if not style.record or not parts:
        return None
    fields = {identity(field) if style.names else field: part for field, part in parts}
    if len(fields) < len(parts):
        return None
    params: dict[str, Any] = {"fields": list(fields)}
    if style.names:
        params["type_name" if catalogue.flavor == "kafka_protobuf" else "name"] = type_name(name)
    return style.record, params, {field: _nullable(catalogue, part) for field, part in fields.items()}


def choice_of(catalogue: Catalogue, parts: Parts, name: str, *, has_null: bool) -> Nested | None:
    """A union; a record with a field for each type where there is no union."""
    style = STYLES.get(catalogue.flavor, Style())
    if not style.choice:
        named = [(field if not field.isdecimal() else f"member{field}", part) for field, part in parts]
        return record_of(catalogue, named, name)
    members = [part for _, part in parts]
    if has_null and style.choice in ("union", "one_of"):
        members.insert(0, build(catalogue, "null"))
    if len({member.key for member in members}) < len(members):
        return None
    return style.choice, {}, {str(n): member for n, member in enumerate(members)}


def _nullable(catalogue: Catalogue, expr: TypeExpr) -> TypeExpr:
    """Avro says of each part whether it may be empty; in tables every part may be."""
    if catalogue.flavor != "kafka_avro" or expr.code in ("union", "null"):
        return expr
    return build(catalogue, "union", {}, {"0": build(catalogue, "null"), "1": expr})
