"""Which lasting field each field of a new version is: the same path, the old path of a rename, or a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from aide.core import bulk
from registry.documents import field_path
from registry.models import Dataset, Field

Document = dict[str, Any]
Identities = dict[int, dict[str, int]]
"""Field ids by dataset id and path."""
Placed = tuple[str, str | None, Document]
"""A field of a document with its path and that of the field it is nested in."""


def settle(work: Iterable[tuple[Dataset, Document, Mapping[str, str]]], *, now: datetime) -> Identities:
    """Find, rename, revive, create and retire fields so that each dataset has just those of its document.

    `work`: (dataset, new document, renames as new path → the field's old name there). A field that comes back
    under its old path is the old field again, with what people wrote about it. Nothing people wrote is changed.
    """
    items = list(work)
    known = _known([dataset.pk for dataset, _, _ in items])
    identities: Identities = {}
    changed: list[Field] = []
    fresh: dict[int, list[tuple[int, Placed]]] = {}

    for dataset, document, renames in items:
        found = identities.setdefault(dataset.pk, {})
        by_path = known.get(dataset.pk)
        if not by_path:
            for depth, placed in walk_placed(document["fields"]):
                fresh.setdefault(depth, []).append((dataset.pk, placed))
            continue
        old_paths = _old_paths(document, renames)
        moved_away = {old for new, old in old_paths.items() if new != old}
        for depth, placed in walk_placed(document["fields"]):
            path, _, node = placed
            old_path = old_paths[path]
            existing = by_path.get(old_path)
            if existing is None or (path == old_path and path in moved_away):
                fresh.setdefault(depth, []).append((dataset.pk, placed))
                continue
            found[path] = existing.pk
            if _renew(existing, node, path=path):
                changed.append(existing)
        taken = set(found.values())
        for gone in by_path.values():
            if gone.pk not in taken and gone.retired_at is None:
                gone.retired_at = now
                changed.append(gone)

    _save(changed, now=now)
    for depth in sorted(fresh):
        _create(fresh[depth], identities)
    return identities


def _create(fresh: list[tuple[int, Placed]], identities: Identities) -> None:
    """Make fields whose parents are there already."""
    rows = [
        (
            dataset_id,
            identities[dataset_id][parent] if parent is not None else None,
            node["name"],
            path,
            node.get("comment") or "",
        )
        for dataset_id, (path, parent, node) in fresh
    ]
    ids = bulk.insert_values(Field, ("dataset_id", "parent_id", "name", "path", "source_comment"), rows)
    for field_id, (dataset_id, placed) in zip(ids, fresh, strict=True):
        identities[dataset_id][placed[0]] = field_id


def walk_placed(fields: list[Document]) -> Iterator[tuple[int, Placed]]:
    """Every field with its depth, 1 for those at the top, and its place; parents first."""
    for node in fields:
        names = (node["name"],)
        path = field_path(names)
        yield 1, (path, None, node)
        if node.get("fields"):
            yield from _nested(node["fields"], names, path)


def _nested(fields: list[Document], above: tuple[str, ...], parent: str) -> Iterator[tuple[int, Placed]]:
    for node in fields:
        names = (*above, node["name"])
        path = field_path(names)
        yield len(names), (path, parent, node)
        if node.get("fields"):
            yield from _nested(node["fields"], names, path)


def walk_names(
    fields: list[Document], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Document]]:
    """Every field with the names that lead to it, parents first."""
    for node in fields:
        names = (*above, node["name"])
        yield names, node
        yield from walk_names(node.get("fields") or [], names)


def _old_paths(document: Document, renames: Mapping[str, str]) -> dict[str, str]:
    """For each field of the document the path it had before the renames of itself and its parents."""
    before: dict[tuple[str, ...], tuple[str, ...]] = {(): ()}
    paths = {}
    for names, _ in walk_names(document["fields"]):
        path = field_path(names)
        before[names] = (*before[names[:-1]], renames.get(path, names[-1]))
        paths[path] = field_path(before[names])
    return paths


def _known(dataset_ids: list[int]) -> dict[int, dict[str, Field]]:
    known: dict[int, dict[str, Field]] = {}
    for start in range(0, len(dataset_ids), 500):
        rows = Field.objects.filter(dataset_id__in=dataset_ids[start : start + 500])
        # The present field of a path wins over retired ones, and of those the last.
        for row in rows.order_by("dataset_id", "retired_at", "id"):
            paths = known.setdefault(row.dataset_id, {})
            earlier = paths.get(row.path)
            if earlier is None or earlier.retired_at is not None:
                paths[row.path] = row
    return known


def _renew(existing: Field, node: Document, *, path: str) -> bool:
    values = {
        "name": node["name"],
        "path": path,
        "source_comment": node.get("comment") or "",
        "retired_at": None,
    }
    differs = any(getattr(existing, name) != value for name, value in values.items())
    for name, value in values.items():
        setattr(existing, name, value)
    return differs


def _save(changed: list[Field], *, now: datetime) -> None:
    # Paths may swap: first nothing changed is present, then all are as they shall be.
    for start in range(0, len(changed), 500):
        chunk = changed[start : start + 500]
        Field.objects.filter(pk__in=[row.pk for row in chunk]).update(retired_at=now)
    for row in changed:
        row.updated_at = now
    bulk.update(changed, ["name", "path", "source_comment", "retired_at", "updated_at"])
