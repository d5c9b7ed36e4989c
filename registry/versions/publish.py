"""Publishing: a document becomes the next immutable version of a dataset, with its fields and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core import bulk
from registry import documents, locations
from registry.catalogues import catalogue_for
from registry.models import Dataset, DatasetSchema, FieldBinding, System
from registry.typesystem import Catalogue, Mark, mark_of
from registry.versions.identity import Identities, settle, walk_placed
from registry.versions.instances import Shape, shape_of, shared_instances
from registry.versions.levels import overridden
from registry.versions.publication import Publication
from registry.versions.settling import settle_datasets

Document = dict[str, Any]


@dataclass(frozen=True)
class Published:
    """The answer: the version in force, and whether it was made now or was there with equal content."""

    dataset: Dataset
    schema: DatasetSchema
    created: bool


def publish(publication: Publication, *, system: System, by: Any, origin: str, batch: str = "") -> Published:
    """Publish one document; see publish_many."""
    return publish_many([publication], system=system, by=by, origin=origin, batch=batch)[0]


@transaction.atomic
def publish_many(
    publications: Sequence[Publication], *, system: System, by: Any, origin: str, batch: str = ""
) -> list[Published]:
    """Publish documents of one system, in their order, all or none.

    Content equal to the dataset's current version makes no version: that one is the answer. A retired or
    deleted dataset comes back with its history. Raises INCOMPATIBLE_SCHEMA where a dataset's level forbids a
    document that no review approved. Takes a number of statements that grows with batches of 500, not with datasets.
    """
    now = timezone.now()
    catalogue = catalogue_for(system.flavor.code)
    datasets = settle_datasets(publications, system=system, by=by, batch=batch, now=now)
    fingerprints = [
        documents.fingerprint(each.document, catalogue=catalogue, positional=_positional(dataset))
        for each, dataset in zip(publications, datasets, strict=True)
    ]
    current = _current(datasets)
    fresh: list[tuple[Dataset, Publication, str]] = []
    for dataset, publication, digest in zip(datasets, publications, fingerprints, strict=True):
        present = current.get(dataset.current_schema_id or 0)
        if present is None or present.fingerprint != digest:
            fresh.append((dataset, publication, digest))

    notes = overridden([(d, p.document, p.approval) for d, p, _ in fresh], catalogue=catalogue)
    versions = _write(fresh, catalogue=catalogue, by=by, origin=origin, now=now)
    _describe(datasets, publications, versions, now=now)
    _announce(fresh, versions, notes, system=system, by=by, batch=batch)
    return [
        Published(dataset, versions[dataset.pk], created=True)
        if dataset.pk in versions
        else Published(dataset, current[dataset.current_schema_id or 0], created=False)
        for dataset in datasets
    ]


@transaction.atomic
def retire(datasets: Iterable[Dataset], *, by: Any, reason: str = "", batch: str = "") -> None:
    """Take datasets out of use; their versions, fields and what people wrote stay."""
    listed = [dataset for dataset in datasets if dataset.status != Dataset.Status.RETIRED]
    before = [dataset.status for dataset in listed]
    for dataset in listed:
        dataset.status = Dataset.Status.RETIRED
        dataset.row_version += 1
        dataset.updated_at = timezone.now()
    bulk.update(listed, ["status", "row_version", "updated_at"])
    record(
        *(
            Entry(
                "dataset.retire", "dataset", dataset.pk, dataset.name,
                system_code=dataset.system.code, dataset_id=dataset.pk, risk="breaking",
                before={"status": status}, after={"status": dataset.status}, reason=reason,
            )
            for dataset, status in zip(listed, before, strict=True)
        ),
        by=by,
        batch=batch,
    )  # fmt: skip


def _positional(dataset: Dataset) -> bool:
    return locations.is_positional(dataset.kind, dataset.location)


def _current(datasets: Iterable[Dataset]) -> dict[int, DatasetSchema]:
    ids = [dataset.current_schema_id for dataset in datasets if dataset.current_schema_id]
    found: dict[int, DatasetSchema] = {}
    for start in range(0, len(ids), 500):
        found.update(DatasetSchema.objects.in_bulk(ids[start : start + 500]))
    return found


def _write(
    fresh: list[tuple[Dataset, Publication, str]],
    *,
    catalogue: Catalogue,
    by: Any,
    origin: str,
    now: datetime,
) -> dict[int, DatasetSchema]:
    """Versions, fields, types and bindings of the fresh publications; versions by dataset id."""
    if not fresh:
        return {}
    numbers = _last_numbers([dataset.pk for dataset, _, _ in fresh])
    identities = settle([(d, p.document, p.renames) for d, p, _ in fresh], now=now)
    schemas = [
        DatasetSchema(
            dataset=dataset,
            version_num=numbers.get(dataset.pk, 0) + 1,
            status=DatasetSchema.Status.PUBLISHED,
            fingerprint=digest,
            origin=origin,
            published_at=now,
            published_by=by,
            object_kind=publication.document["kind"],
            comment=publication.document.get("comment") or "",
            attributes=publication.document.get("attributes") or {},
            primary_key=publication.document.get("primary_key"),
            unique_keys=publication.document.get("unique") or [],
            foreign_keys=publication.document.get("foreign_keys") or [],
        )
        for dataset, publication, digest in fresh
    ]
    bulk.insert(schemas)
    versions = {schema.dataset_id: schema for schema in schemas}
    _bind([(versions[d.pk], p.document) for d, p, _ in fresh], identities, catalogue=catalogue)
    for dataset, _, _ in fresh:
        dataset.current_schema = versions[dataset.pk]
    return versions


def _last_numbers(dataset_ids: list[int]) -> dict[int, int]:
    numbers: dict[int, int] = {}
    for start in range(0, len(dataset_ids), 500):
        rows = DatasetSchema.objects.filter(dataset_id__in=dataset_ids[start : start + 500])
        numbers.update(rows.order_by().values_list("dataset_id").annotate(Max("version_num")))
    return numbers


def _bind(
    versions: list[tuple[DatasetSchema, Document]], identities: Identities, *, catalogue: Catalogue
) -> None:
    shapes: dict[Mark, Shape] = {}
    placed = []
    for schema, document in versions:
        for _, place in walk_placed(document["fields"]):
            mark = mark_of(place[2])
            if mark not in shapes:
                shapes[mark] = shape_of(place[2], catalogue=catalogue)
            placed.append((schema, mark, place))
    by_shape = shared_instances(shapes.values(), catalogue=catalogue)
    instances = {mark: by_shape[shape] for mark, shape in shapes.items()}
    rows = []
    for schema, mark, (path, parent, node) in placed:
        fields = identities[schema.dataset_id]
        above = fields[parent] if parent is not None else None
        rows.append((schema.pk, fields[path], above, instances[mark], *_binding_values(node)))
    bulk.insert_values(FieldBinding, _BINDING, rows)


_BINDING = (
    "dataset_schema_id", "field_id", "parent_field_id", "type_instance_id", "name", "position",
    "native_position", "native_type", "is_nullable", "default", "primary_key", "comment", "generated",
    "identity", "on_update", "hidden",
)  # fmt: skip


def _binding_values(node: Document) -> tuple[Any, ...]:
    """The columns of a binding that come straight from a document's field, the last ones of `_BINDING`."""
    return (
        node["name"],
        node["position"],
        node.get("native_position"),
        node.get("native_type") or "",
        node.get("nullable", True),
        node.get("default"),
        node.get("primary_key"),
        node.get("comment") or "",
        node.get("generated"),
        node.get("identity"),
        node.get("on_update") or "",
        bool(node.get("hidden", False)),
    )


def _describe(
    datasets: Sequence[Dataset],
    publications: Sequence[Publication],
    versions: Mapping[int, DatasetSchema],
    *,
    now: datetime,
) -> None:
    """Bring the dataset rows up to their documents; rows that already say the same are not written."""
    stale = []
    for dataset, publication in zip(datasets, publications, strict=True):
        values: dict[str, Any] = {
            "object_kind": publication.document["kind"],
            "source_comment": publication.document.get("comment") or "",
            "status": (
                dataset.status if dataset.status == Dataset.Status.DEPRECATED else Dataset.Status.ACTIVE
            ),
        }
        if publication.name:
            values["name"] = publication.name
        if publication.location is not None:
            values["location"] = dict(publication.location)
        differs = any(getattr(dataset, name) != value for name, value in values.items())
        for name, value in values.items():
            setattr(dataset, name, value)
        if differs or dataset.pk in versions:
            dataset.updated_at = now
            stale.append(dataset)
    bulk.update(
        stale,
        ["object_kind", "source_comment", "status", "name", "location", "current_schema", "updated_at"],
    )


def _announce(
    fresh: list[tuple[Dataset, Publication, str]],
    versions: Mapping[int, DatasetSchema],
    notes: Mapping[int, Mapping[str, Any]],
    *,
    system: System,
    by: Any,
    batch: str,
) -> None:
    record(
        *(
            Entry(
                "dataset.publish",
                "dataset",
                dataset.pk,
                dataset.name,
                system_code=system.code,
                dataset_id=dataset.pk,
                after={
                    "version": versions[dataset.pk].version_num,
                    "fingerprint": digest,
                    "origin": versions[dataset.pk].origin,
                    **notes.get(dataset.pk, {}),
                },
                risk="breaking" if dataset.pk in notes else "",
                reason=publication.reason,
            )
            for dataset, publication, digest in fresh
        ),
        by=by,
        batch=batch,
    )
