"""Drafts: a version written piece by piece, until publishing freezes it. A published version refuses all of this."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core import bulk
from aide.core.errors import Conflict, FieldError, Invalid
from registry import documents, locations, reading, typesystem
from registry.catalogues import catalogue_for
from registry.models import Dataset, DatasetSchema, DataType, Field, FieldBinding, TypeInstance
from registry.typesystem import Catalogue, ParamsInvalid, TypeSystemError
from registry.versions.identity import settle
from registry.versions.instances import Shape, shape_of, shared_instances
from registry.versions.levels import overridden
from registry.versions.publish import Published


@transaction.atomic
def add_draft(dataset: Dataset, *, by: Any, version_num: int | None = None, **values: Any) -> DatasetSchema:
    """Open a draft. `version_num` may be given if it is the next free number; else it is chosen."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    last = dataset.schemas.aggregate(last=Max("version_num"))["last"] or 0
    if version_num is not None and version_num != last + 1:
        if dataset.schemas.filter(version_num=version_num).exists():
            raise Conflict("DATASET_SCHEMA_ALREADY_EXISTS", f"Version {version_num} exists already.")
        raise Invalid(
            detail="Versions are numbered without gaps.",
            errors=[FieldError("version_num", "invalid", f"The next version is {last + 1}.")],
        )
    schema = DatasetSchema.objects.create(dataset=dataset, version_num=last + 1, **values)
    _record("draft.add", schema, by=by)
    return schema


DRAFT_VALUES = (
    "note", "object_kind", "comment", "attributes", "primary_key", "unique_keys", "foreign_keys",
)  # fmt: skip


@transaction.atomic
def update_draft(schema: DatasetSchema, *, by: Any, **values: Any) -> DatasetSchema:
    """Change what a draft says about the dataset as a whole."""
    draft = open_draft(schema)
    changed = {name: values[name] for name in DRAFT_VALUES if name in values}
    for name, value in changed.items():
        setattr(draft, name, value)
    draft.row_version += 1
    draft.save(update_fields=[*changed, "row_version", "updated_at"])
    _record("draft.update", draft, by=by, after=changed)
    return draft


@transaction.atomic
def delete_draft(schema: DatasetSchema, *, by: Any) -> None:
    """Throw a draft away."""
    open_draft(schema)
    _record("draft.delete", schema, by=by)
    schema.delete()


def open_draft(schema: DatasetSchema) -> DatasetSchema:
    """The draft, locked; raises IMMUTABLE when it is published."""
    locked = DatasetSchema.objects.select_for_update(of=("self",)).select_related("dataset").get(pk=schema.pk)
    if locked.status == DatasetSchema.Status.PUBLISHED:
        raise Conflict("IMMUTABLE", f"Version {locked.version_num} is published and cannot be changed.")
    return locked


@transaction.atomic
def add_field(dataset: Dataset, *, name: str, parent: Field | None = None, by: Any, **human: Any) -> Field:
    """Name a field of a dataset before any version holds it."""
    if parent is not None and parent.dataset_id != dataset.pk:
        raise Invalid(
            "FIELD_PARENT_DATASET_MISMATCH",
            "A field's parent belongs to the same dataset.",
            errors=[FieldError("parent_id", "invalid", "This field belongs to another dataset.")],
        )
    names = [name]
    above = parent
    while above is not None:
        names.insert(0, above.name)
        above = above.parent
    path = documents.field_path(names)
    if dataset.fields.filter(path=path, retired_at__isnull=True).exists():
        raise Conflict("FIELD_ALREADY_EXISTS", f"The dataset has a field {path} already.")
    field = Field.objects.create(dataset=dataset, parent=parent, name=name, path=path, **human)
    record(
        Entry("field.add", "field", field.pk, path, dataset_id=dataset.pk, system_code=dataset.system.code),
        by=by,
    )
    return field


@transaction.atomic
def delete_field(field: Field, *, by: Any) -> None:
    """Remove a field that no version has ever held."""
    if field.bindings.exists() or Field.objects.filter(parent=field).exists():
        raise Conflict("HAS_DEPENDENT_ENTITIES", "Versions or nested fields hold this field; it stays.")
    record(
        Entry(
            "field.delete", "field", field.pk, field.path,
            dataset_id=field.dataset_id, system_code=field.dataset.system.code,
        ),
        by=by,
    )  # fmt: skip
    field.delete()


@transaction.atomic
def add_binding(schema: DatasetSchema, *, field: Field, by: Any, **values: Any) -> FieldBinding:
    """Put a field into a draft, at a position and with a type."""
    draft = open_draft(schema)
    _check_free(draft, field=field, position=values.get("position"))
    values.setdefault("name", field.name)
    _fill_native(values)
    binding = FieldBinding.objects.create(
        dataset_schema=draft, field=field, parent_field=field.parent, **values
    )
    _record("draft.bind", draft, by=by, after={"field": field.path, "position": binding.position})
    return binding


@transaction.atomic
def update_binding(binding: FieldBinding, *, by: Any, **values: Any) -> FieldBinding:
    """Change a field's place or type in a draft."""
    draft = open_draft(binding.dataset_schema)
    binding = FieldBinding.objects.select_related("field__parent").get(pk=binding.pk)
    field = values.get("field", binding.field)
    _check_free(draft, field=field, position=values.get("position"), besides=binding)
    if "type_instance" in values and "native_type" not in values:
        _fill_native(values)
    for name, value in values.items():
        setattr(binding, name, value)
    binding.parent_field = field.parent
    binding.row_version += 1
    binding.save()
    _record("draft.rebind", draft, by=by, after={"field": field.path, "position": binding.position})
    return binding


@transaction.atomic
def delete_binding(binding: FieldBinding, *, by: Any) -> None:
    """Take a field out of a draft."""
    draft = open_draft(binding.dataset_schema)
    _record("draft.unbind", draft, by=by, before={"field": binding.field.path})
    binding.delete()


@transaction.atomic
def add_type_instance(
    data_type: DataType | None,
    *,
    type_params: Mapping[str, Any] | None = None,
    parent: TypeInstance | None = None,
    slot: str = "",
    native_type: str = "",
) -> TypeInstance:
    """A type with parameters: an equal one that exists, or a new one; a part of a nested type under its parent."""
    if (parent is None) != (not slot):
        code = "TYPE_INSTANCE_SLOT_REQUIRED" if parent is not None else "TYPE_INSTANCE_SLOT_FORBIDDEN"
        raise Invalid(
            code,
            "A slot goes with a parent, and a parent with a slot.",
            errors=[FieldError("slot", "invalid", "Give slot and parent_id together.")],
        )
    params = dict(type_params or {})
    rendered = _render(data_type, params) if data_type is not None else native_type
    if parent is None and data_type is not None and not data_type.slots:
        return _shared(data_type, params, rendered)
    if parent is not None and parent.parts.filter(slot=slot).exists():
        raise Conflict("TYPE_INSTANCE_SLOT_ALREADY_EXISTS", f"The parent has a type in slot {slot} already.")
    return TypeInstance.objects.create(
        data_type=data_type, type_params=params, parent=parent, slot=slot, rendered=rendered,
        type_name=data_type.name if data_type else native_type,
    )  # fmt: skip


@transaction.atomic
def delete_type_instance(instance: TypeInstance) -> None:
    """Remove a type that nothing uses; one that is in use is protected by the database."""
    instance.delete()


@transaction.atomic
def publish_draft(schema: DatasetSchema, *, by: Any, batch: str = "") -> Published:
    """Freeze a draft. A draft equal to the current version is dropped, and that version is the answer.

    Raises INCOMPATIBLE_SCHEMA where the dataset's level of compatibility forbids it, and STALE_CHANGE where a later
    version is in force already.
    """
    draft = open_draft(schema)
    dataset = (
        Dataset.objects.select_for_update(of=("self",))
        .select_related("system__flavor")
        .get(pk=draft.dataset_id)
    )
    if not draft.bindings.exists():
        raise Invalid(
            detail="A version has at least one field.",
            errors=[FieldError("", "empty", "Add a field to the draft first.")],
        )
    document = documents.clean(_document(draft))
    catalogue = catalogue_for(dataset.system.flavor.code)
    digest = documents.fingerprint(
        document,
        catalogue=catalogue,
        positional=locations.is_positional(dataset.kind, dataset.location),
    )
    current = dataset.current_schema
    if current is not None and current.fingerprint == digest:
        draft.delete()
        return Published(dataset, current, created=False)
    _refuse_outdated(draft)
    overridden([(dataset, document, None)], catalogue=catalogue)
    _give_types(draft, catalogue=catalogue)
    now = timezone.now()
    settle([(dataset, document, _renames(draft))], now=now)
    draft.status = DatasetSchema.Status.PUBLISHED
    draft.fingerprint = digest
    draft.published_at = now
    draft.published_by = by
    draft.save()
    dataset.current_schema = draft
    dataset.status = Dataset.Status.ACTIVE if dataset.status == Dataset.Status.DRAFT else dataset.status
    dataset.object_kind = draft.object_kind or dataset.object_kind
    dataset.save(update_fields=["current_schema", "status", "object_kind", "updated_at"])
    record(
        Entry(
            "dataset.publish", "dataset", dataset.pk, dataset.name,
            system_code=dataset.system.code, dataset_id=dataset.pk,
            after={"version": draft.version_num, "fingerprint": digest, "origin": draft.origin},
        ),
        by=by,
        batch=batch,
    )  # fmt: skip
    return Published(dataset, draft, created=True)


def _refuse_outdated(draft: DatasetSchema) -> None:
    later = DatasetSchema.objects.filter(
        dataset_id=draft.dataset_id,
        status=DatasetSchema.Status.PUBLISHED,
        version_num__gt=draft.version_num,
    ).order_by("-version_num")
    number = later.values_list("version_num", flat=True).first()
    if number is not None:
        raise Conflict("STALE_CHANGE", f"Version {number} was published meanwhile; open a new draft.")


def _renames(draft: DatasetSchema) -> dict[str, str]:
    """The fields that this draft calls otherwise: new path → the field's name until now."""
    bindings = {row.field_id: row for row in draft.bindings.select_related("field")}

    def names(field_id: int | None) -> list[str]:
        row = bindings.get(field_id or 0)
        return [*names(row.parent_field_id), row.name] if row is not None else []

    return {
        documents.field_path(names(field_id)): row.field.name
        for field_id, row in bindings.items()
        if row.name != row.field.name
    }


def _give_types(draft: DatasetSchema, *, catalogue: Catalogue) -> None:
    """The type of each binding that came with its native spelling alone."""
    untyped = list(draft.bindings.filter(type_instance__isnull=True).exclude(native_type=""))
    shapes = {row.pk: shape_of({"native_type": row.native_type}, catalogue=catalogue) for row in untyped}
    instances = shared_instances(shapes.values(), catalogue=catalogue)
    for row in untyped:
        row.type_instance_id = instances[shapes[row.pk]]
    bulk.update(untyped, ["type_instance"])


def _document(draft: DatasetSchema) -> dict[str, Any]:
    """The draft as a document; what was left out is told by the primary key places of the bindings."""
    document = reading.document_of(draft)
    dataset = draft.dataset
    usual = dataset.object_kind or locations.default_object_kind(dataset.kind)
    document["kind"] = document["kind"] or usual
    if document["primary_key"] is None:
        keyed = sorted((f["primary_key"], f["name"]) for f in document["fields"] if f["primary_key"])
        if keyed:
            document["primary_key"] = {"name": None, "columns": [name for _, name in keyed]}
            draft.primary_key = document["primary_key"]
    draft.object_kind = document["kind"]
    return document


def _check_free(
    draft: DatasetSchema, *, field: Field, position: int | None, besides: FieldBinding | None = None
) -> None:
    if field.dataset_id != draft.dataset_id:
        raise Invalid(
            detail="The field belongs to another dataset.",
            errors=[FieldError("field_id", "invalid", "This field belongs to another dataset.")],
        )
    others = draft.bindings.exclude(pk=besides.pk) if besides else draft.bindings.all()
    if others.filter(field=field).exists():
        raise Conflict("FIELD_BINDING_FIELD_ID_ALREADY_EXISTS", "The draft holds this field already.")
    if position is None or field.parent_id is not None:
        return
    if others.filter(position=position, parent_field__isnull=True).exists():
        raise Conflict("FIELD_BINDING_POSITION_ALREADY_EXISTS", f"Position {position} is taken.")


def _fill_native(values: dict[str, Any]) -> None:
    instance = values.get("type_instance")
    if instance is not None and not values.get("native_type"):
        values["native_type"] = instance.rendered


def _render(data_type: DataType, params: dict[str, Any]) -> str:
    catalogue = catalogue_for(data_type.flavor.code)
    try:
        return typesystem.render(catalogue, data_type.code, params, {}) if not data_type.slots else ""
    except ParamsInvalid as error:
        raise Invalid(
            "TYPE_PARAMS_INVALID",
            "The parameters do not fit the type.",
            errors=[
                FieldError(f"type_params.{each.path}".rstrip("."), "invalid", each.message)
                for each in error.errors
            ],
        ) from None
    except TypeSystemError as error:
        raise Invalid("TYPE_PARAMS_INVALID", str(error)) from None


def _shared(data_type: DataType, params: dict[str, Any], rendered: str) -> TypeInstance:
    expr = typesystem.parse(catalogue_for(data_type.flavor.code), rendered)
    shape = Shape(expr, data_type.name, "", "", json.dumps(params, sort_keys=True, ensure_ascii=False))
    digest = shape.content_hash(data_type.flavor.code)
    instance, _ = TypeInstance.objects.get_or_create(
        content_hash=digest,
        defaults={
            "data_type": data_type, "type_params": params, "rendered": rendered, "type_name": data_type.name,
            "parameters": params,
        },
    )  # fmt: skip
    return instance


def _record(action: str, schema: DatasetSchema, *, by: Any, **values: Any) -> None:
    dataset = schema.dataset
    record(
        Entry(
            action, "dataset_schema", schema.pk, f"{dataset.name} version {schema.version_num}",
            system_code=dataset.system.code, dataset_id=dataset.pk, **values,
        ),
        by=by,
    )  # fmt: skip
