"""The five kinds of dataset: the keys of their locations, what is wrong with one, and the name it gives. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.documents.usual import text_problem

MAX_TEXT = 2_000
MAX_LIST = 1_000


@dataclass(frozen=True)
class LocationError:
    """One thing wrong with a location: the key ("" for the whole) and a plain sentence."""

    key: str
    message: str


@dataclass(frozen=True)
class Kind:
    """One kind of dataset: its location's keys by the type of their values, and what its objects may be."""

    code: str
    name: str
    texts: tuple[str, ...]
    required: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    object_kinds: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.texts, *self.numbers, *self.flags, *self.lists)


KINDS: Mapping[str, Kind] = {
    kind.code: kind
    for kind in (
        Kind(
            "rdbms",
            "Database table",
            texts=("database", "schema", "table"),
            required=("table",),
            object_kinds=(
                "table", "partitioned_table", "partition", "foreign_table", "view", "materialized_view",
                "virtual_table", "shadow_table", "sequence",
            ),
        ),
        Kind(
            "kafka",
            "Kafka topic",
            texts=("topic", "format"),
            required=("topic",),
            numbers=("partitions", "retention_ms"),
            lists=("key_fields",),
            object_kinds=("topic",),
        ),
        Kind(
            "storage",
            "Object store",
            texts=("bucket", "path", "file_format", "compression"),
            required=("bucket",),
            lists=("partition_by",),
            object_kinds=("file", "folder"),
        ),
        Kind(
            "sftp",
            "SFTP file",
            texts=("path", "pattern", "file_format", "delimiter", "encoding", "compression"),
            required=("path",),
            flags=("header",),
            object_kinds=("file", "folder"),
        ),
        Kind(
            "hive",
            "Hive table",
            texts=("catalog_uri", "database", "table", "file_format", "location"),
            required=("database", "table"),
            flags=("is_external",),
            lists=("partition_columns",),
            object_kinds=("table", "view", "materialized_view"),
        ),
    )
}  # fmt: skip


def default_object_kind(kind: str) -> str:
    """What an object of this kind is unless someone says otherwise."""
    known = KINDS.get(kind)
    return known.object_kinds[0] if known is not None else "table"


def check(kind: str, location: Any) -> tuple[LocationError, ...]:
    """What is wrong with a location of that kind; empty when it is right."""
    known = KINDS.get(kind)
    if known is None:
        return (LocationError("", f"There is no kind {kind}; there are {', '.join(KINDS)}."),)
    if not isinstance(location, Mapping):
        return (LocationError("", "A location is a JSON object."),)
    errors = [
        LocationError(str(key)[:100], f"A {kind} location has no such key; it has {', '.join(known.keys)}.")
        for key in location
        if key not in known.keys
    ]
    for key in known.required:
        if location.get(key) in (None, ""):
            errors.append(LocationError(key, f"A {kind} location needs {key}."))
    for key in known.keys:
        value = location.get(key)
        message = _problem(known, key, value) if value is not None else None
        if message:
            errors.append(LocationError(key, message))
    return tuple(errors)


def _problem(kind: Kind, key: str, value: Any) -> str | None:
    if key in kind.texts:
        return text_problem(value, limit=MAX_TEXT) if isinstance(value, str) else "This must be a text."
    if key in kind.numbers:
        whole = isinstance(value, int) and not isinstance(value, bool) and -1 <= value < 2**63
        return None if whole else "This must be a whole number."
    if key in kind.flags:
        return None if isinstance(value, bool) else "This must be true or false."
    if not isinstance(value, list) or len(value) > MAX_LIST or not all(isinstance(v, str) for v in value):
        return f"This must be a list of at most {MAX_LIST} texts."
    return next((problem for v in value if (problem := text_problem(v, limit=MAX_TEXT))), None)


def quote_part(part: str) -> str:
    """A part of a name as it stands in a qualified name: SQL-quoted when it holds a dot or a double quote."""
    if "." in part or '"' in part:
        return '"' + part.replace('"', '""') + '"'
    return part


def qualified_name(kind: str, location: Mapping[str, Any]) -> str:
    """The name of a dataset at this location. Nothing may ever split it again: the location keeps the parts."""
    if kind == "rdbms":
        return _joined(location.get("schema"), location.get("table"))
    if kind == "hive":
        return _joined(location.get("database"), location.get("table"))
    if kind == "kafka":
        return str(location.get("topic") or "")
    if kind == "storage":
        return "/".join(filter(None, (str(location.get("bucket") or ""), _path(location).strip("/"))))
    if kind == "sftp":
        pattern = str(location.get("pattern") or "")
        return f"{_path(location).rstrip('/')}/{pattern}" if pattern else _path(location)
    raise ValueError(f"There is no kind {kind}.")


# What kind of dataset the systems of a category hold; databases of every sort hold tables.
_OF_SYSTEMS: Mapping[str, str] = {
    "MESSAGE_QUEUE": "kafka",
    "OBJECT_STORAGE": "storage",
    "FILE_TRANSFER": "sftp",
    "DATA_WAREHOUSE": "hive",
}


def kind_for(system_kind: str) -> str:
    """The kind of the datasets that a system of this category holds."""
    return _OF_SYSTEMS.get(system_kind, "rdbms")


def location_at(kind: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """The location that a document names by its schema and name: as much of it as a name can tell."""
    schema, name = str(document.get("schema") or ""), str(document.get("name") or "")
    if kind == "hive":
        return {"database": schema or "default", "table": name}
    if kind == "kafka":
        return {"topic": name}
    if kind == "storage":
        bucket, _, path = name.partition("/")
        return {"bucket": bucket, **({"path": path} if path else {})}
    if kind == "sftp":
        return {"path": name}
    return {"schema": schema, "table": name}


def dataset_name(document: Mapping[str, Any]) -> str:
    """The qualified name of the dataset that a schema document describes."""
    schema, name = document.get("schema"), str(document.get("name") or "")
    return _joined(schema, name) if schema else name


def is_positional(kind: str, location: Mapping[str, Any]) -> bool:
    """Whether readers find fields by their order: in SFTP and in CSV files."""
    return kind == "sftp" or str(location.get("file_format") or "").lower() == "csv"


def _joined(schema: Any, table: Any) -> str:
    parts = [quote_part(str(part)) for part in (schema, table) if part]
    return ".".join(parts)


def _path(location: Mapping[str, Any]) -> str:
    return str(location.get("path") or "")
