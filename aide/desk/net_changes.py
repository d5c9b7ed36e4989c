"""The net difference of two versions of a dataset, fields followed by their lasting identity. Reads only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from crawling import diff
from registry import locations, reading
from registry.catalogues import catalogue_for
from registry.documents import field_path
from registry.models import Dataset, DatasetSchema, FieldBinding
from registry.typesystem import Catalogue

Document = dict[str, Any]


@dataclass(frozen=True)
class _Place:
    """A field in one version: its identity, its name and the identity of the field around it."""

    field_id: int
    name: str
    parent_id: int | None


def net_changes(
    dataset: Dataset,
    before: DatasetSchema | None,
    after: DatasetSchema,
    *,
    bindings: Mapping[int, Sequence[FieldBinding]] | None = None,
) -> tuple[diff.Change, ...]:
    """What turns one version into the other; None stands for the time before the first version.

    A field that was renamed in between, however often, is one rename; what came and went in between is not there.
    Takes three statements, however many fields there are; `bindings` are those of both, if they are loaded.
    """
    schemas = [schema for schema in (before, after) if schema is not None]
    rows = reading.bindings_of(schemas) if bindings is None else bindings
    catalogue = catalogue_for(dataset.system.flavor.code)
    place = reading.place_of(dataset)
    new = reading.document_from(after, rows[after.pk], place=place)
    if before is None:
        return diff.diff(None, new, catalogue=catalogue, dataset=dataset.name)
    was, now = _places(rows[before.pk]), _places(rows[after.pk])
    tags = reading.confirmed_tags(dataset.pk)
    context = diff.Context(
        pii={
            (dataset.name, _path(was, field_id)): tuple(tags[field_id])
            for field_id in was
            if field_id in tags
        }
    )
    return _following(
        reading.document_from(before, rows[before.pk], place=place), new, was, now,
        catalogue=catalogue, context=context, dataset=dataset,
    )  # fmt: skip


def _following(
    old: Document,
    new: Document,
    was: Mapping[int, _Place],
    now: Mapping[int, _Place],
    *,
    catalogue: Catalogue,
    context: diff.Context,
    dataset: Dataset,
) -> tuple[diff.Change, ...]:
    positional = locations.is_positional(dataset.kind, dataset.location)

    def changes(one: Document, other: Document, renames: Mapping[str, str]) -> tuple[diff.Change, ...]:
        return diff.diff(
            one, other, catalogue=catalogue, context=context, dataset=dataset.name, renames=renames,
            positional=positional,
        )  # fmt: skip

    renames, gone = _renames(was, now)
    if not gone:
        return changes(old, new, renames)
    # A name that passed from one field to another: the first goes before the second takes it.
    without = _without(old, {was[field_id].name for field_id in gone})
    return (*changes(old, without, {}), *changes(without, new, renames))


def _renames(was: Mapping[int, _Place], now: Mapping[int, _Place]) -> tuple[dict[str, str], set[int]]:
    """Old path (after the renames of its parents) → new name, in an order in which no name is taken twice.

    Beside them the top-level fields that must go first, as a renamed one takes their name. Fields that exchanged
    their names are left out: they are compared by name.
    """
    names = {(place.parent_id, place.name): field_id for field_id, place in was.items()}
    renamed = {i: now[i] for i in was if i in now and was[i].name != now[i].name}
    gone: set[int] = set()
    ordered: dict[str, str] = {}
    left = dict(renamed)
    while left:
        free = []
        for field_id, place in left.items():
            holder = names.get((was[field_id].parent_id, place.name))
            if holder is None or (holder not in now and was[holder].parent_id is None):
                free.append(field_id)
                if holder is not None:
                    gone.add(holder)
        if not free:
            break
        for field_id in free:
            place = left.pop(field_id)
            parents = _names(now, place.parent_id)
            ordered[field_path([*parents, was[field_id].name])] = place.name
            names.pop((was[field_id].parent_id, was[field_id].name), None)
    return ordered, gone


def _without(document: Document, names: set[str]) -> Document:
    """The document without some top-level fields and without the keys over them."""

    def stays(key: Mapping[str, Any]) -> bool:
        return not names.intersection(key.get("columns") or ())

    out = deepcopy(document)
    out["fields"] = [field for field in out["fields"] if field["name"] not in names]
    if out["primary_key"] and not stays(out["primary_key"]):
        out["primary_key"] = None
    for part in ("unique", "foreign_keys"):
        out[part] = [key for key in out[part] if stays(key)]
    return out


def _places(bindings: Sequence[FieldBinding]) -> dict[int, _Place]:
    return {row.field_id: _Place(row.field_id, row.name, row.parent_field_id) for row in bindings}


def _path(places: Mapping[int, _Place], field_id: int) -> str:
    return field_path(_names(places, field_id))


def _names(places: Mapping[int, _Place], field_id: int | None) -> list[str]:
    names: list[str] = []
    while field_id is not None and field_id in places:
        names.insert(0, places[field_id].name)
        field_id = places[field_id].parent_id
    return names
