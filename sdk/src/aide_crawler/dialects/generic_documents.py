"""Builds documents in the neutral shape from what SQLAlchemy's Inspector answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import NullType

_NUMBER = re.compile(r"-?[0-9]+")
_UNKNOWN = re.compile(
    r"Did not recognize type '(?P<type>.+?)'(?: \(user type\).*)? of column '(?P<column>.+)'", re.DOTALL
)


def unknown_types(warnings: Iterable[Any]) -> dict[str, set[str]]:
    """The types that SQLAlchemy warned not to know, by the name of the column: nothing else keeps their names."""
    found: dict[str, set[str]] = {}
    for warning in warnings:
        match = _UNKNOWN.fullmatch(str(warning.message))
        if match is not None:
            found.setdefault(match["column"], set()).add(match["type"])
    return found


def is_unknown(column: Mapping[str, Any]) -> bool:
    """Whether SQLAlchemy does not know the column's type."""
    return isinstance(_instance(column["type"]), NullType)


def document(
    schema: str,
    name: str,
    kind: str,
    parts: Mapping[str, Any],
    *,
    dialect: Any,
    unknown: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """One dataset from its parts, as `get_multi_*` gives them for one table.

    `unknown` has the spelling of the types that SQLAlchemy does not know, by column.
    """
    key = parts.get("pk_constraint") or {}
    key_columns = list(key.get("constrained_columns") or ())
    return {
        "schema": schema,
        "name": name,
        "kind": kind,
        "comment": (parts.get("table_comment") or {}).get("text") or None,
        "attributes": {},
        "fields": [
            _field(
                column,
                position,
                key_columns,
                dialect=dialect,
                unknown=(unknown or {}).get(column["name"], ""),
            )
            for position, column in enumerate(parts["columns"], 1)
        ],
        "primary_key": {"name": key.get("name"), "columns": key_columns} if key_columns else None,
        "unique": _uniques(parts.get("unique_constraints") or (), parts.get("indexes") or ()),
        "foreign_keys": [_foreign_key(item, schema) for item in parts.get("foreign_keys") or ()],
    }


def _field(
    column: Mapping[str, Any], position: int, key: list[str], *, dialect: Any, unknown: str
) -> dict[str, Any]:
    native, type_name, parameters = read_type(column["type"], dialect=dialect, unknown=unknown)
    computed = column.get("computed")
    identity = column.get("identity")
    default = column.get("default")
    return {
        "name": column["name"],
        "position": position,
        "native_type": native,
        "type_name": type_name,
        "parameters": parameters,
        "nullable": bool(column.get("nullable", True)),
        "default": None if computed or identity or default is None else str(default),
        "primary_key": key.index(column["name"]) + 1 if column["name"] in key else None,
        "comment": column.get("comment") or None,
        "generated": {
            "kind": "stored" if computed.get("persisted") else "virtual",
            "expression": computed.get("sqltext"),
        }
        if computed
        else None,
        "identity": _identity(column, identity),
        "hidden": False,
    }


def _identity(column: Mapping[str, Any], identity: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if identity is not None:
        found: dict[str, Any] = {"kind": "always" if identity.get("always") else "by_default"}
        found.update({key: identity[key] for key in ("start", "increment") if identity.get(key) is not None})
        return found
    return {"kind": "auto_increment"} if column.get("autoincrement") is True else None


def read_type(kind: Any, *, dialect: Any, unknown: str = "") -> tuple[str, str, dict[str, Any]]:
    """Native spelling, bare name and declared parameters; a type that SQLAlchemy does not know is `unknown`."""
    kind = _instance(kind)
    if isinstance(kind, NullType):
        return unknown, unknown.partition("(")[0].strip(), {}
    try:
        native = str(kind.compile(dialect=dialect))
    except (SQLAlchemyError, AttributeError, NotImplementedError, TypeError):
        native = str(getattr(kind, "__visit_name__", type(kind).__name__))
    if dialect.name == "oracle" and re.match(r"VARCHAR\b", native):  # Oracle has no VARCHAR of its own
        native = "VARCHAR2" + native.removeprefix("VARCHAR")
    declared = set(_NUMBER.findall(native.partition("(")[2]))
    parameters: dict[str, Any] = {
        key: value
        for key in ("length", "precision", "scale")
        if isinstance(value := getattr(kind, key, None), int) and str(value) in declared
    }
    values = getattr(kind, "enums", None)
    if values:
        parameters["values"] = [str(value) for value in values]
    return native, native.partition("(")[0].strip(), parameters


def _instance(kind: Any) -> Any:
    """Some dialects answer with the class of a type that has no parameters."""
    return kind() if isinstance(kind, type) else kind


def _uniques(constraints: Any, indexes: Any) -> list[dict[str, Any]]:
    """Unique constraints, and unique indexes that are not told already as one of them."""
    found = [
        {"name": item.get("name"), "columns": list(item["column_names"]), "kind": "constraint"}
        for item in constraints
    ]
    known = {item["name"] for item in found}
    for index in indexes:
        if not index.get("unique") or index.get("duplicates_constraint") or index.get("name") in known:
            continue
        unique = {
            "name": index.get("name"),
            "columns": [column for column in index["column_names"] if column is not None],
            "kind": "index",
        }
        if index.get("expressions"):
            unique["expressions"] = [
                str(text)
                for text, column in zip(index["expressions"], index["column_names"], strict=False)
                if column is None
            ]
        options = index.get("dialect_options") or {}
        if predicate := next(
            (text for key, text in options.items() if key.endswith("_where") and text), None
        ):
            unique["predicate"] = str(predicate)
        found.append(unique)
    return sorted(found, key=lambda item: (item["name"] or "", item["columns"]))


def _foreign_key(item: Mapping[str, Any], schema: str) -> dict[str, Any]:
    options = item.get("options") or {}
    return {
        "name": item.get("name"),
        "columns": list(item["constrained_columns"]),
        "ref_schema": item.get("referred_schema") or schema,
        "ref_table": item["referred_table"],
        "ref_columns": list(item["referred_columns"]),
        "on_update": str(options.get("onupdate") or "NO ACTION").upper(),
        "on_delete": str(options.get("ondelete") or "NO ACTION").upper(),
    }
