"""Builds documents in the neutral shape from what SQLAlchemy's Inspector answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import NullType


def document(schema: str, name: str, kind: str, parts: Mapping[str, Any], *, dialect: Any) -> dict[str, Any]:
    """One dataset from its parts, as `get_multi_*` gives them for one table."""
    key = parts.get("pk_constraint") or {}
    key_columns = list(key.get("constrained_columns") or ())
    return {
        "schema": schema,
        "name": name,
        "kind": kind,
        "comment": (parts.get("table_comment") or {}).get("text") or None,
        "attributes": {},
        "fields": [
            _field(column, position, key_columns, dialect=dialect)
            for position, column in enumerate(parts["columns"], 1)
        ],
        "primary_key": {"name": key.get("name"), "columns": key_columns} if key_columns else None,
        "unique": _uniques(parts.get("unique_constraints") or (), parts.get("indexes") or ()),
        "foreign_keys": [_foreign_key(item, schema) for item in parts.get("foreign_keys") or ()],
    }


def _field(column: Mapping[str, Any], position: int, key: list[str], *, dialect: Any) -> dict[str, Any]:
    native, type_name, parameters = _type(column["type"], dialect=dialect)
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


def _type(kind: Any, *, dialect: Any) -> tuple[str, str, dict[str, Any]]:
    """Native spelling, bare name and parameters; a type that SQLAlchemy does not know has no spelling."""
    if isinstance(kind, NullType):
        return "", "", {}
    try:
        native = str(kind.compile(dialect=dialect))
    except (SQLAlchemyError, AttributeError, NotImplementedError, TypeError):
        native = str(getattr(kind, "__visit_name__", type(kind).__name__))
    parameters = {
        key: getattr(kind, key)
        for key in ("length", "precision", "scale")
        if isinstance(getattr(kind, key, None), int)
    }
    values = getattr(kind, "enums", None)
    if values:
        parameters["values"] = [str(value) for value in values]
    return native, native.partition("(")[0].strip(), parameters


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
            unique["expressions"] = [str(text) for text in index["expressions"]]
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
