"""Schema documents → a diagram that ChartDB imports as it is. Pure.

Ids, order and places depend on the names alone, so that the same model is the same file. What ChartDB cannot hold
(conditions and expressions of keys, what a foreign key does on deletion, generated columns) is left out.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from registry.chartdb.types import database_type, type_of
from registry.documents import field_path
from registry.typesystem import Catalogue

Document = Mapping[str, Any]

TABLE, VIEW, MATERIALIZED = "#8eb7ff", "#b0b0b0", "#7d7d7d"
WIDTH, COLUMN, HEADER, ROW, GAP = 224, 340, 42, 32, 100
# Parts of other datasets, and what holds no data of its own.
NOT_DRAWN = frozenset({"partition", "shadow_table", "sequence"})


@dataclass(frozen=True)
class Stamped:
    """A document and when it was published, in milliseconds since 1970."""

    document: Document
    at: int


@dataclass
class _Drawing:
    flavor: str
    catalogue: Catalogue | None
    nested: bool
    tables: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    fields: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)


def diagram(
    documents: Iterable[Stamped],
    *,
    name: str,
    flavor: str,
    catalogue: Catalogue | None = None,
    nested: bool = False,
) -> dict[str, Any]:
    """The diagram of these datasets. With `nested`, fields inside fields are rows named by their path."""
    drawn = sorted(
        (each for each in documents if each.document.get("kind") not in NOT_DRAWN),
        key=lambda each: _place(each.document),
    )
    drawing = _Drawing(flavor, catalogue, nested)
    for each in drawn:
        drawing.tables[_place(each.document)] = _table(drawing, each.document, at=each.at)
    relationships = {
        row["id"]: row for each in drawn for row in _relationships(drawing, each.document, drawn, at=each.at)
    }
    _arrange(list(drawing.tables.values()))
    stamp = datetime.fromtimestamp(max((each.at for each in drawn), default=0) / 1000, UTC)
    moment = stamp.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        "id": _id("d", name),
        "name": name,
        "databaseType": database_type(flavor),
        "createdAt": moment,
        "updatedAt": moment,
        "tables": list(drawing.tables.values()),
        "relationships": list(relationships.values()),
        "dependencies": [],
        "areas": [],
        "customTypes": _custom_types(drawn),
        "notes": [],
    }


def _place(document: Document) -> tuple[str, str]:
    return document.get("schema") or "", document.get("name") or ""


def _id(prefix: str, *parts: Any) -> str:
    """An id that no other kind of thing in the file can have, since the prefixes differ."""
    text = "\0".join(str(part).replace("\0", "\0\0") for part in parts)
    return prefix + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _table(drawing: _Drawing, document: Document, *, at: int) -> dict[str, Any]:
    place = _place(document)
    kind = document.get("kind") or "table"
    is_materialized = kind == "materialized_view"
    is_view = is_materialized or kind == "view"
    key = tuple((document.get("primary_key") or {}).get("columns") or ())
    alone = {columns[0] for columns, _ in plain_uniques(document) if len(columns) == 1}
    alone |= {key[0]} if len(key) == 1 else set()
    fields = []
    for names, each in _walk(document.get("fields") or [], nested=drawing.nested):
        path = field_path(names) if drawing.nested else names[0]
        fields.append(
            {
                "id": _id("f", *place, path),
                "name": path,
                "primaryKey": len(names) == 1 and names[0] in key,
                "unique": len(names) == 1 and names[0] in alone,
                "createdAt": at,
                **field_facts(each, flavor=drawing.flavor, catalogue=drawing.catalogue),
            }
        )
        if len(names) == 1:
            drawing.fields.setdefault(place, {})[names[0]] = fields[-1]["id"]
    table: dict[str, Any] = {
        "id": _id("t", *place),
        "name": place[1],
        "x": 0,
        "y": 0,
        "width": WIDTH,
        "color": MATERIALIZED if is_materialized else VIEW if is_view else TABLE,
        "isView": is_view,
        "createdAt": at,
        "order": 0,
        "fields": fields,
        "indexes": _indexes(document, drawing.fields.get(place, {}), at=at),
    }
    if place[0]:
        table["schema"] = place[0]
    if is_materialized:
        table["isMaterializedView"] = True
    if document.get("comment"):
        table["comments"] = document["comment"]
    return table


def field_facts(
    field: Mapping[str, Any], *, flavor: str, catalogue: Catalogue | None = None
) -> dict[str, Any]:
    """What ChartDB holds of a field, beside its name, its id and its keys; absent values are left out."""
    written = type_of(field, flavor=flavor, catalogue=catalogue)
    facts: dict[str, Any] = {
        "type": {"id": written.id, "name": written.name},
        "nullable": bool(field.get("nullable", True)),
    }
    optional = {
        "increment": True if field.get("identity") else None,
        "isArray": True if written.is_array else None,
        "characterMaximumLength": written.length,
        "precision": written.precision,
        "scale": written.scale,
        "default": None if field.get("generated") else field.get("default"),
        "collation": (field.get("parameters") or {}).get("collation"),
        "comments": field.get("comment") or None,
    }
    return facts | {
        name: value
        for name, value in optional.items()
        if value is not None and (name != "collation" or isinstance(value, str))
    }


def _walk(
    fields: list[Mapping[str, Any]], *, nested: bool, above: tuple[str, ...] = ()
) -> Iterable[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for each in fields:
        names = (*above, each["name"])
        yield names, each
        if nested:
            yield from _walk(each.get("fields") or [], nested=True, above=names)


def plain_uniques(document: Document) -> list[tuple[tuple[str, ...], str]]:
    """Unique keys that hold for whole columns and every row, as (columns, name); equal ones once."""
    found: dict[tuple[str, ...], str] = {}
    for each in document.get("unique") or []:
        columns = tuple(each.get("columns") or ())
        limited = any(each.get(key) for key in ("predicate", "expressions", "partial", "prefix_lengths"))
        if columns and not limited:
            found.setdefault(columns, each.get("name") or "_".join((*columns, "key")))
    return [(columns, found[columns]) for columns in sorted(found)]


def _indexes(document: Document, ids: Mapping[str, str], *, at: int) -> list[dict[str, Any]]:
    place = _place(document)
    key = document.get("primary_key") or {}
    columns = tuple(key.get("columns") or ())
    rows = []
    if columns and all(name in ids for name in columns):
        rows.append(
            {
                "id": _id("i", *place, "primary key"),
                "name": key.get("name") or f"{place[1]}_pkey",
                "unique": True,
                "fieldIds": [ids[name] for name in columns],
                "isPrimaryKey": True,
                "createdAt": at,
            }
        )
    for unique, name in plain_uniques(document):
        if all(column in ids for column in unique):
            rows.append(
                {
                    "id": _id("i", *place, "unique", *unique),
                    "name": name,
                    "unique": True,
                    "fieldIds": [ids[column] for column in unique],
                    "createdAt": at,
                }
            )
    return rows


def plain_references(
    document: Document, keys: Mapping[tuple[str, str], tuple[str, ...]]
) -> list[tuple[tuple[str, ...], tuple[str, str], tuple[str, ...], str]]:
    """Foreign keys to datasets of `keys` (place → its primary key): columns, place, columns there, name."""
    found: dict[tuple[tuple[str, ...], tuple[str, str], tuple[str, ...]], str] = {}
    for each in document.get("foreign_keys") or []:
        place = (each.get("ref_schema") or document.get("schema") or "", each.get("ref_table") or "")
        columns = tuple(each.get("columns") or ())
        there = tuple(each.get("ref_columns") or ()) or keys.get(place, ())
        if place in keys and columns and len(columns) == len(there):
            name = each.get("name") or "_".join((document.get("name") or "", *columns, "fkey"))
            found.setdefault((columns, place, there), name)
    return [(*key, found[key]) for key in sorted(found)]


def _relationships(
    drawing: _Drawing, document: Document, drawn: Iterable[Stamped], *, at: int
) -> Iterable[dict[str, Any]]:
    """One row a pair of columns; the source is the table that is referred to, and it is the one of one to many."""
    place = _place(document)
    keys = {
        _place(each.document): tuple((each.document.get("primary_key") or {}).get("columns") or ())
        for each in drawn
    }
    own = drawing.fields.get(place, {})
    for columns, there, names, name in plain_references(document, keys):
        others = drawing.fields.get(there, {})
        if any(each not in own for each in columns) or any(each not in others for each in names):
            continue
        for column, target in zip(columns, names, strict=True):
            row = {
                "id": _id("r", *place, *columns, *there, *names, column, target),
                "name": name,
                "sourceTableId": drawing.tables[there]["id"],
                "sourceFieldId": others[target],
                "targetTableId": drawing.tables[place]["id"],
                "targetFieldId": own[column],
                "sourceCardinality": "one",
                "targetCardinality": "many",
                "createdAt": at,
            }
            row |= {"sourceSchema": there[0]} if there[0] else {}
            yield row | ({"targetSchema": place[0]} if place[0] else {})


def _custom_types(drawn: Iterable[Stamped]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in drawn:
        for _, one in _walk(each.document.get("fields") or [], nested=False):
            inner = (one.get("parameters") or {}).get("element")
            told = inner if one.get("type_kind") == "array" and isinstance(inner, Mapping) else one
            kind, name, schema = told.get("type_kind"), told.get("type_name"), told.get("type_schema") or ""
            if kind not in {"enum", "composite"} or not name or (schema, name) in found:
                continue
            parameters = told.get("parameters") or {}
            made = {"id": _id("c", schema, name), "name": name, "kind": kind}
            made |= {"schema": schema} if schema else {}
            if kind == "enum":
                made["values"] = [str(value) for value in parameters.get("values") or []]
            else:
                parts = parameters.get("attributes") or []
                made["fields"] = [{"field": p["name"], "type": p["native_type"]} for p in parts]
            found[schema, name] = made
    return [{**found[key], "order": n} for n, key in enumerate(sorted(found))]


def _arrange(tables: list[dict[str, Any]]) -> None:
    """A grid about as wide as it is high."""
    across = max(1, math.ceil(math.sqrt(len(tables))))
    depth = [0] * across
    for n, table in enumerate(tables):
        column = n % across
        table["order"], table["x"], table["y"] = n, column * COLUMN, depth[column]
        depth[column] += HEADER + ROW * len(table["fields"]) + GAP
