"""Builds documents in the neutral shape from rows of MySQL's and MariaDB's information_schema."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.mysql_grants import Grants
from aide_crawler.dialects.mysql_types import native_type, parse
from aide_crawler.limits import Progress
from aide_crawler.scope import Scope
from aide_crawler.watch import Watch

Row = tuple[Any, ...]
_KINDS = {"BASE TABLE": "table", "SYSTEM VERSIONED": "table", "VIEW": "view"}
_BROKEN_VIEW = re.compile(r"View '.*' references invalid ", re.DOTALL)
_ON_UPDATE = re.compile(r"on update (\w+(?:\(\d*\))?)", re.IGNORECASE)
_PLAIN_LITERALS = frozenset(
    {"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year"}
)
_CHECK_EVERY = 200
_NOTHING: Row = (None,) * 5


@dataclass
class SchemaRows:
    """All rows about one schema, by table."""

    schema: str
    is_mariadb: bool
    listed: list[tuple[str, str]]
    tables: dict[str, Row]
    columns: dict[str, list[Row]]
    indexes: dict[str, list[Row]]
    foreign_columns: dict[str, list[Row]]
    foreign_rules: dict[tuple[str, str], tuple[str, str]]
    checks: dict[tuple[str, str], str] = field(default_factory=dict)
    partition_counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))


def build(
    rows: SchemaRows,
    scope: Scope,
    grants: Grants,
    notes: CoverageNotes,
    watch: Watch,
    *,
    place: tuple[int, int],
) -> list[dict[str, Any]]:
    """The documents of one schema; what is listed and cannot be read goes to the notes."""
    wanted = sorted(
        (name, _KINDS[kind])
        for name, kind in rows.listed
        if kind in _KINDS and scope.covers(rows.schema, name)
    )
    datasets = []
    for index, (name, kind) in enumerate(wanted):
        if index % _CHECK_EVERY == 0:
            watch.check()
        watch.progress(Progress(rows.schema, name, place[0], place[1], index, len(wanted)))
        notes.listed += 1
        comment = (rows.tables.get(name) or _NOTHING)[3] or ""
        if kind == "view" and (name not in rows.columns or _BROKEN_VIEW.match(comment)):
            notes.skip(
                rows.schema, name, "The view does not work, or its columns are not visible to this user."
            )
            datasets.append(_document(rows, name, kind, attributes={"broken": True}, columns=[]))
        elif reason := _unreadable(rows, name, kind):
            notes.fail(rows.schema, name, reason)
        else:
            in_part = not grants.shows_table(rows.schema, name)
            if in_part:
                notes.fail(rows.schema, name, "Only some of its columns are granted to this user.")
            attributes, columns = _attributes(rows, name), rows.columns[name]
            datasets.append(
                _document(rows, name, kind, attributes=attributes, columns=columns, in_part=in_part)
            )
    return datasets


def _unreadable(rows: SchemaRows, name: str, kind: str) -> str | None:
    if name not in rows.columns:
        return "It was dropped or changed while it was read, or none of its columns is visible to this user."
    if name not in rows.tables:
        return "It was created, dropped or changed while it was read."
    if kind == "table" and rows.tables[name][1] is None:
        return "The server cannot open it."
    return None


def _attributes(rows: SchemaRows, name: str) -> dict[str, Any]:
    _, engine, options, _, table_type = rows.tables[name]
    attributes: dict[str, Any] = {}
    if table_type == "SYSTEM VERSIONED":
        attributes["system_versioned"] = True
    if engine is not None:
        attributes["engine"] = engine
    if "partitioned" in (options or ""):
        attributes["partitioned"] = True
        attributes["partition_count"] = rows.partition_counts[name]
    return attributes


def _document(
    rows: SchemaRows,
    name: str,
    kind: str,
    *,
    attributes: dict[str, Any],
    columns: list[Row],
    in_part: bool = False,
) -> dict[str, Any]:
    """One dataset. Where columns are hidden from this user, the others keep the places that they really have."""
    comment = (rows.tables.get(name) or _NOTHING)[3]
    by_index: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows.indexes.get(name, ()), key=lambda row: row[2]):
        by_index[row[1]].append(row)
    primary = [row[3] for row in by_index.pop("PRIMARY", ())]
    places = {column: index for index, column in enumerate(primary, 1)}
    return {
        "schema": rows.schema,
        "name": name,
        "kind": kind,
        "comment": (comment or None) if kind == "table" else None,
        "attributes": attributes,
        "fields": [
            _field(rows, row, int(row[1]) if in_part else position, places.get(row[2]))
            for position, row in enumerate(sorted(columns, key=lambda row: row[1]), 1)
        ],
        "primary_key": {"name": "PRIMARY", "columns": primary} if primary else None,
        "unique": [_unique(index, parts) for index, parts in sorted(by_index.items())],
        "foreign_keys": _foreign_keys(rows, name),
    }


def _field(rows: SchemaRows, row: Row, position: int, key_place: int | None) -> dict[str, Any]:
    (table, _, name, column_type, nullable, default, extra, comment, charset, collation, expression) = row[
        :11
    ]
    native = native_type(column_type)
    is_json = row[11] == "longtext" and _checks_json(rows.checks.get((table, name), ""), name)
    type_name, parameters = parse(native, charset=charset, collation=collation, is_json=is_json)
    flags = (extra or "").upper()
    generated = None
    if flags and ((" GENERATED" in flags and "DEFAULT_GENERATED" not in flags) or "PERSISTENT" in flags):
        kind = "virtual" if "VIRTUAL GENERATED" in flags else "stored"
        generated = {"kind": kind, "expression": expression}
    document = {
        "name": name,
        "position": position,
        "native_type": native,
        "type_name": type_name,
        "parameters": parameters,
        "nullable": nullable == "YES",
        "default": None if generated else _default(rows, default, type_name, flags),
        "primary_key": key_place,
        "comment": comment or None,
        "generated": generated,
        "identity": {"kind": "auto_increment"} if "AUTO_INCREMENT" in flags else None,
        "hidden": "INVISIBLE" in flags,
    }
    if extra and (match := _ON_UPDATE.search(extra)):
        document["on_update"] = match[1]
    return document


def _checks_json(check: str, name: str) -> bool:
    """Whether a column's check is the one that JSON, an alias of longtext, gives it."""
    return check.lower() == f"json_valid(`{name.replace('`', '``')}`)".lower()


def _default(rows: SchemaRows, default: str | None, type_name: str, flags: str) -> str | None:
    """The expression of a default. MariaDB quotes literals; MySQL does not, and marks expressions."""
    if default is None:
        return None
    if rows.is_mariadb:
        return None if default == "NULL" else default
    if "DEFAULT_GENERATED" in flags or type_name in _PLAIN_LITERALS:
        return default
    return "'" + default.replace("\\", "\\\\").replace("'", "''") + "'"


def _unique(name: str, parts: list[Row]) -> dict[str, Any]:
    unique: dict[str, Any] = {
        "name": name,
        "columns": [row[3] for row in parts if row[3] is not None],
        "kind": "constraint",
    }
    if any(row[4] is not None for row in parts):
        unique["prefix_lengths"] = [None if row[4] is None else int(row[4]) for row in parts]
    if any(row[3] is None for row in parts):
        unique["expressions"] = [row[5] for row in parts if row[3] is None]
    return unique


def _foreign_keys(rows: SchemaRows, table: str) -> list[dict[str, Any]]:
    by_name: defaultdict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows.foreign_columns.get(table, ()), key=lambda row: row[2]):
        by_name[row[1]].append(row)
    keys = []
    for name, parts in sorted(by_name.items()):
        on_update, on_delete = rows.foreign_rules.get((table, name), ("RESTRICT", "RESTRICT"))
        keys.append(
            {
                "name": name,
                "columns": [row[3] for row in parts],
                "ref_schema": parts[0][4],
                "ref_table": parts[0][5],
                "ref_columns": [row[6] for row in parts],
                "on_update": on_update,
                "on_delete": on_delete,
            }
        )
    return keys
