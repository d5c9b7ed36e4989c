"""Schema versions read back as documents, in bulk and with a constant number of statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from registry.models import Dataset, DatasetSchema, FieldBinding, FieldTag

Document = dict[str, Any]
Finish = Callable[[Document, int], None]

_SCHEMA = (
    "id", "dataset_id", "version_num", "fingerprint", "published_at", "object_kind", "comment", "attributes",
    "primary_key", "unique_keys", "foreign_keys",
)  # fmt: skip
_BINDING = (
    "dataset_schema_id", "field_id", "parent_field_id", "name", "position", "native_position", "native_type",
    "is_nullable", "default", "primary_key", "comment", "generated", "identity", "on_update", "hidden",
    "type_instance_id", "type_instance__type_name", "type_instance__type_schema", "type_instance__type_kind",
    "type_instance__parameters",
)  # fmt: skip


def documents_of(schema_ids: Iterable[int], *, names: Mapping[int, tuple[str, str]]) -> dict[int, Document]:
    """The documents of some versions, by version id, in the neutral shape.

    `names` gives (schema, name) by dataset id, as `place_of` tells it.
    """
    return _read(list(schema_ids), names=names, finish=lambda field, field_id: None)


def bindings_of(schemas: Iterable[DatasetSchema]) -> dict[int, list[FieldBinding]]:
    """The fields of some versions in their order, with their types, by version id; one statement."""
    found: dict[int, list[FieldBinding]] = {schema.pk: [] for schema in schemas}
    rows = FieldBinding.objects.filter(dataset_schema__in=found).select_related("type_instance")
    for row in rows.order_by("position", "pk"):
        found[row.dataset_schema_id].append(row)
    return found


def document_from(
    schema: DatasetSchema, bindings: Iterable[FieldBinding], *, place: tuple[str, str]
) -> Document:
    """What `documents_of` reads, made of rows that are loaded already (`bindings_of`)."""
    children: dict[tuple[int, int | None], list[tuple]] = defaultdict(list)
    for row in bindings:
        children[schema.pk, row.parent_field_id].append(tuple(_attribute(row, path) for path in _BINDING))
    values = {name: getattr(schema, name) for name in _SCHEMA}
    fields = _fields(children, schema.pk, None, lambda field, field_id: None)
    return _document(values, fields, place)


def _attribute(row: Any, path: str) -> Any:
    for name in path.split("__"):
        row = getattr(row, name) if row is not None else None
    return row


def _read(ids: list[int], *, names: Mapping[int, tuple[str, str]], finish: Finish) -> dict[int, Document]:
    children = _bindings_by_parent(ids)
    found: dict[int, Document] = {}
    for chunk in _chunks(ids):
        for row in DatasetSchema.objects.filter(pk__in=chunk).values(*_SCHEMA):
            fields = _fields(children, row["id"], None, finish)
            found[row["id"]] = _document(row, fields, names[row["dataset_id"]])
    return found


def _document(row: Mapping[str, Any], fields: list[Document], place: tuple[str, str]) -> Document:
    schema, name = place
    return {
        "schema": schema,
        "name": name,
        "kind": row["object_kind"],
        "comment": row["comment"] or None,
        "attributes": row["attributes"],
        "fields": fields,
        "primary_key": row["primary_key"],
        "unique": row["unique_keys"],
        "foreign_keys": row["foreign_keys"],
    }


def place_of(dataset: Dataset) -> tuple[str, str]:
    """A dataset's (schema, name) as its documents carry them; kinds without a schema have an empty one."""
    return place_in(dataset.kind, dataset.location, dataset.name)


def place_in(kind: str, location: Mapping[str, Any], name: str) -> tuple[str, str]:
    """The same from plain values."""
    if kind == Dataset.Kind.RDBMS:
        return str(location.get("schema", "")), str(location.get("table", name))
    if kind == Dataset.Kind.HIVE:
        return str(location.get("database", "")), str(location.get("table", name))
    return "", name


def document_of(schema: DatasetSchema) -> Document:
    """One version as a document."""
    dataset = schema.dataset
    return documents_of([schema.pk], names={dataset.pk: place_of(dataset)})[schema.pk]


def described(schema: DatasetSchema) -> Document:
    """One version as the API serves it: the document with the registry's ids, types and what people wrote."""
    extras = _extras(schema.pk)
    tags = confirmed_tags(schema.dataset_id)

    def finish(field: Document, field_id: int) -> None:
        field |= extras[field_id]
        field |= {"field_id": field_id, "pii_tags": tags.get(field_id, [])}

    dataset = schema.dataset
    document = _read([schema.pk], names={dataset.pk: place_of(dataset)}, finish=finish)[schema.pk]
    return document | {
        "dataset_id": schema.dataset_id,
        "version": schema.version_num,
        "fingerprint": schema.fingerprint,
        "published_at": schema.published_at,
    }


def confirmed_tags(*dataset_ids: int) -> dict[int, list[str]]:
    """Codes of the confirmed PII tags by field id."""
    rows = FieldTag.objects.filter(
        field__dataset_id__in=dataset_ids, state=FieldTag.State.CONFIRMED, until__isnull=True
    ).order_by("tag__code")
    tags: dict[int, list[str]] = defaultdict(list)
    for field_id, code in rows.values_list("field_id", "tag__code"):
        tags[field_id].append(code)
    return tags


def _bindings_by_parent(schema_ids: list[int]) -> dict[tuple[int, int | None], list[tuple]]:
    children: dict[tuple[int, int | None], list[tuple]] = defaultdict(list)
    for chunk in _chunks(schema_ids):
        rows = FieldBinding.objects.filter(dataset_schema_id__in=chunk)
        for row in rows.order_by("dataset_schema_id", "position", "id").values_list(*_BINDING):
            children[row[0], row[2]].append(row)
    return children


def _fields(children: Mapping, schema_id: int, parent: int | None, finish: Finish) -> list[Document]:
    fields = []
    for row in children.get((schema_id, parent), ()):
        field: Document = {
            "name": row[3],
            "position": row[4],
            "native_type": row[6],
            # A column declared without a type (SQLite) has an empty name, a document that told none has none.
            "type_name": row[16] or ("" if not row[6] else None),
            "parameters": row[19] or {},
            "nullable": row[7],
            "default": row[8],
            "primary_key": row[9],
            "comment": row[10] or None,
            "generated": row[11],
            "identity": row[12],
            "hidden": row[14],
        }
        if row[5] is not None:
            field["native_position"] = row[5]
        if row[17]:
            field["type_schema"] = row[17]
        if row[18]:
            field["type_kind"] = row[18]
        if row[13]:
            field["on_update"] = row[13]
        nested = _fields(children, schema_id, row[1], finish)
        if nested:
            field["fields"] = nested
        finish(field, row[1])
        fields.append(field)
    return fields


def _extras(schema_id: int) -> dict[int, Document]:
    rows = FieldBinding.objects.filter(dataset_schema_id=schema_id).values_list(
        "field_id", "type_instance__data_type__code", "type_instance__type_params", "type_instance__rendered",
        "native_type", "field__description",
    )  # fmt: skip
    return {
        field_id: {
            "data_type": code,
            "type_params": params or {},
            "rendered": rendered or native,
            "description": description,
        }
        for field_id, code, params, rendered, native, description in rows
    }


def _chunks(ids: list[int], size: int = 500) -> Iterable[list[int]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
