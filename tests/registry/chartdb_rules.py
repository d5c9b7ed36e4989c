"""What ChartDB's own import demands of a file, as a list of what is wrong with one. No other key passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Check = Callable[[Any], bool]


def text(value: Any) -> bool:
    return isinstance(value, str)


def number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def flag(value: Any) -> bool:
    return isinstance(value, bool)


def array(value: Any) -> bool:
    return isinstance(value, list)


def one_of(*words: str) -> Check:
    return lambda value: value in words


def maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def texts(value: Any) -> bool:
    return array(value) and all(text(each) for each in value)


def field_type(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"id", "name"} and all(map(text, value.values()))


DATABASES = one_of(
    "generic", "postgresql", "mysql", "sql_server", "mariadb", "sqlite", "clickhouse", "cockroachdb", "oracle"
)  # fmt: skip
EDITIONS = one_of("supabase", "timescale", "mysql_5_7", "sql_server_2016_and_below", "cloudflare_d1")
INDEXES = one_of(
    "btree", "hash", "gist", "gin", "spgist", "brin", "nonclustered", "clustered", "xml", "fulltext", "spatial",
    "index",
)  # fmt: skip
CARDINALITY = one_of("one", "many")

# Per object: what must be there, and what may be.
DIAGRAM = (
    {"id": text, "name": text, "databaseType": DATABASES},
    {
        "databaseEdition": EDITIONS, "createdAt": text, "updatedAt": text, "tables": array, "relationships": array,
        "dependencies": array, "areas": array, "customTypes": array, "notes": array,
    },
)  # fmt: skip
TABLE = (
    {
        "id": text, "name": text, "x": number, "y": number, "fields": array, "indexes": array, "color": text,
        "isView": flag, "createdAt": number,
    },
    {
        "schema": maybe(text), "isMaterializedView": maybe(flag), "width": maybe(number), "comments": maybe(text),
        "order": maybe(number), "expanded": maybe(flag), "parentAreaId": maybe(text),
        "checkConstraints": maybe(array),
    },
)  # fmt: skip
FIELD = (
    {
        "id": text, "name": text, "type": field_type, "primaryKey": flag, "unique": flag, "nullable": flag,
        "createdAt": number,
    },
    {
        "increment": maybe(flag), "isArray": maybe(flag), "characterMaximumLength": maybe(text),
        "precision": maybe(number), "scale": maybe(number), "default": maybe(text), "collation": maybe(text),
        "comments": maybe(text), "check": maybe(text),
    },
)  # fmt: skip
INDEX = (
    {"id": text, "name": text, "unique": flag, "fieldIds": texts, "createdAt": number},
    {"type": INDEXES, "isPrimaryKey": maybe(flag), "comments": maybe(text)},
)
RELATIONSHIP = (
    {
        "id": text, "name": text, "sourceTableId": text, "sourceFieldId": text, "targetTableId": text,
        "targetFieldId": text, "sourceCardinality": CARDINALITY, "targetCardinality": CARDINALITY,
        "createdAt": number,
    },
    {"sourceSchema": maybe(text), "targetSchema": maybe(text)},
)  # fmt: skip
CUSTOM_TYPE = (
    {"id": text, "name": text, "kind": one_of("enum", "composite")},
    {"schema": maybe(text), "values": maybe(texts), "fields": maybe(array), "order": maybe(number)},
)


def problems(diagram: Any) -> list[str]:
    """Everything that the import would refuse, drop or mix up; empty for a good file."""
    return list(_problems(diagram))


def _problems(diagram: Any) -> Iterator[str]:
    yield from _shape(diagram, DIAGRAM, "diagram")
    seen: set[str] = set()
    fields: dict[str, set[str]] = {}
    for table in diagram["tables"]:
        where = f"table {table.get('name')}"
        yield from _shape(table, TABLE, where)
        yield from _fresh(table, seen, where)
        fields[table["id"]] = set()
        for field in table["fields"]:
            yield from _shape(field, FIELD, f"{where}.{field.get('name')}")
            yield from _fresh(field, seen, f"{where}.{field.get('name')}")
            fields[table["id"]].add(field["id"])
        for index in table["indexes"]:
            yield from _shape(index, INDEX, f"{where}: {index.get('name')}")
            yield from _fresh(index, seen, f"{where}: {index.get('name')}")
            if not index["fieldIds"] or not set(index["fieldIds"]) <= fields[table["id"]]:
                yield f"{where}: an index of unknown fields"
    for relationship in diagram.get("relationships", []):
        where = f"relationship {relationship.get('name')}"
        yield from _shape(relationship, RELATIONSHIP, where)
        yield from _fresh(relationship, seen, where)
        for end in ("source", "target"):
            if relationship[f"{end}FieldId"] not in fields.get(relationship[f"{end}TableId"], ()):
                yield f"{where}: its {end} is not in the file, so it would be dropped"
        if (relationship["sourceCardinality"], relationship["targetCardinality"]) != ("one", "many"):
            yield f"{where}: not from the one to the many"
    for own in diagram.get("customTypes", []):
        yield from _shape(own, CUSTOM_TYPE, f"type {own.get('name')}")
        yield from _fresh(own, seen, f"type {own.get('name')}")


def _shape(
    value: dict[str, Any], shape: tuple[dict[str, Check], dict[str, Check]], where: str
) -> Iterator[str]:
    required, optional = shape
    for key, check in required.items():
        if key not in value or not check(value[key]):
            yield f"{where}: {key} is missing or wrong"
    for key, each in value.items():
        if key not in required and key not in optional:
            yield f"{where}: there is no key {key}"
        elif key in optional and not optional[key](each):
            yield f"{where}: {key} is wrong"


def _fresh(value: dict[str, Any], seen: set[str], where: str) -> Iterator[str]:
    if value["id"] in seen:
        yield f"{where}: the id {value['id']} is there twice"
    seen.add(value["id"])
