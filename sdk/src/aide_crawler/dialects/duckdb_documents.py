"""Builds documents in the neutral shape from rows of DuckDB's table functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aide_crawler.dialects.mysql_types import labels

Row = dict[str, Any]
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_LIST_ITEM = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|[^,]*)\s*(?:,|$)""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Rows:
    """The rows about all datasets, by schema and name."""

    columns: Mapping[tuple[str, str], list[Row]]
    constraints: Mapping[tuple[str, str], list[Row]]
    indexes: Mapping[tuple[str, str], list[Row]]


def document(kind: str, name: str, row: Row, rows: Rows, *, broken: bool = False) -> dict[str, Any]:
    """One table or view."""
    place = row["schema_name"], name
    constraints = rows.constraints.get(place, ())
    primary = next((each for each in constraints if each["constraint_type"] == "PRIMARY KEY"), None)
    key = list(primary["constraint_column_names"]) if primary else []
    columns = sorted(rows.columns.get(place, ()), key=lambda column: column["column_index"])
    names = {column["column_name"] for column in columns}
    uniques = [_unique_constraint(each) for each in constraints if each["constraint_type"] == "UNIQUE"]
    uniques += [_unique_index(each, names) for each in rows.indexes.get(place, ()) if each["is_unique"]]
    return {
        "schema": row["schema_name"],
        "name": name,
        "kind": kind,
        "comment": row.get("comment") or None,
        "attributes": {"broken": True} if broken else {},
        "fields": [_field(column, position, key) for position, column in enumerate(columns, 1)],
        "primary_key": {"name": primary.get("constraint_name"), "columns": key} if primary else None,
        "unique": sorted(uniques, key=lambda unique: (unique["name"] or "", unique["columns"])),
        "foreign_keys": [
            _foreign_key(each, row["schema_name"])
            for each in constraints
            if each["constraint_type"] == "FOREIGN KEY"
        ],
    }


def _field(row: Row, position: int, key: list[str]) -> dict[str, Any]:
    native = row["data_type"]
    expression = row.get("generation_expression") if row.get("is_generated") else None
    return {
        "name": row["column_name"],
        "position": position,
        "native_type": native,
        "type_name": _bare(native),
        "parameters": _parameters(native),
        "nullable": bool(row["is_nullable"]) and row["column_name"] not in key,
        "default": None if expression else row["column_default"],
        "primary_key": key.index(row["column_name"]) + 1 if row["column_name"] in key else None,
        "comment": row.get("comment") or None,
        "generated": {"kind": "virtual", "expression": expression} if expression else None,
        "identity": None,
        "hidden": False,
    }


def _bare(native: str) -> str:
    return native if native.endswith("]") else native.partition("(")[0].strip()


def _parameters(native: str) -> dict[str, Any]:
    if match := _DECIMAL.fullmatch(native):
        return {"precision": int(match[1]), "scale": int(match[2])}
    if native.startswith("ENUM(") and native.endswith(")"):
        return {"values": labels(native[5:-1].replace("\\", "\\\\"))}
    return {}


def _unique_constraint(row: Row) -> dict[str, Any]:
    return {
        "name": row.get("constraint_name"),
        "columns": list(row["constraint_column_names"]),
        "kind": "constraint",
    }


def _unique_index(row: Row, columns: set[str]) -> dict[str, Any]:
    terms = [_unquoted(term) for term in _items(row["expressions"] or "[]")]
    unique: dict[str, Any] = {
        "name": row["index_name"],
        "columns": [term for term in terms if term in columns],
        "kind": "index",
    }
    if expressions := [term for term in terms if term not in columns]:
        unique["expressions"] = expressions
    return unique


def _items(text: str) -> list[str]:
    """The items of a printed list, where an item that is no plain word stands in single quotes, with backslashes."""
    inside, found, position = text.strip()[1:-1], [], 0
    while position < len(inside):
        match = _LIST_ITEM.match(inside, position)
        if match is None or match.end() == position:
            break
        item = match[1]
        found.append(_ESCAPED.sub(r"\1", item[1:-1]) if item.startswith("'") else item.strip())
        position = match.end()
    return found


def _unquoted(term: str) -> str:
    if (
        len(term) > 1
        and term.startswith('"')
        and term.endswith('"')
        and '"' not in term[1:-1].replace('""', "")
    ):
        return term[1:-1].replace('""', '"')
    return term


def _foreign_key(row: Row, schema: str) -> dict[str, Any]:
    """DuckDB has keys within one schema, and no rules for them."""
    return {
        "name": row.get("constraint_name"),
        "columns": list(row["constraint_column_names"]),
        "ref_schema": schema,
        "ref_table": row["referenced_table"],
        "ref_columns": list(row["referenced_column_names"]),
        "on_update": "NO ACTION",
        "on_delete": "NO ACTION",
    }
