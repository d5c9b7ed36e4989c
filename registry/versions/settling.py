"""Which row each publication is for: found, made, brought back, or given its new name. Locks the rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from aide.audit.entries import Entry, record
from aide.core import bulk
from registry.models import Dataset, System
from registry.versions.publication import Publication

NAME_LENGTH = 1000


def settle_datasets(
    publications: Sequence[Publication], *, system: System, by: Any, batch: str, now: datetime
) -> list[Dataset]:
    """The dataset row of each publication; new ones are made, deleted ones of the same name come back."""
    given = [each.dataset.pk for each in publications if each.dataset is not None]
    locked = {row.pk: row for row in _locked(Dataset.objects.filter(pk__in=given))}
    names = [each.name for each in publications if each.dataset is None]
    same_name = {
        row.name: row for row in _locked(Dataset.objects.alive().filter(system=system, name__in=names))
    }
    missing = {(system.pk, name) for name in names if name not in same_name}
    same_name |= {name: row for (_, name), row in deleted_named(missing).items() if row.pk not in locked}
    made = {
        each.name: Dataset(
            system=system,
            kind=each.kind,
            name=each.name,
            location=dict(each.location or {}),
            status=Dataset.Status.ACTIVE,
            object_kind=each.document["kind"],
            source_comment=each.document.get("comment") or "",
        )
        for each in publications
        if each.dataset is None and each.name not in same_name
    }
    found = [*locked.values(), *same_name.values()]
    ours = {row.pk for row in found}
    _make_way(publications, locked, system=system, ours=ours, by=by, batch=batch, now=now)
    _revive(found, by=by, batch=batch, now=now)
    bulk.insert(list(made.values()))
    return [
        locked[each.dataset.pk] if each.dataset is not None else same_name.get(each.name) or made[each.name]
        for each in publications
    ]


def deleted_named(keys: Collection[tuple[int, str]]) -> dict[tuple[int, str], Dataset]:
    """By (system id, name) the deleted dataset that a publication of that name brings back, locked.

    The one deleted last, where one that had a version counts before those that never had.
    """
    if not keys:
        return {}
    rows = _locked(
        Dataset.objects.filter(
            system__in={system_id for system_id, _ in keys},
            name__in={name for _, name in keys},
            deleted_at__isnull=False,
        )
    )
    rows.sort(key=lambda row: (row.current_schema_id is not None, row.deleted_at, row.pk))
    return {(row.system_id, row.name): row for row in rows if (row.system_id, row.name) in keys}


def _locked(rows: Any) -> list[Dataset]:
    return list(rows.select_related("system__flavor").select_for_update(of=("self",)).order_by("pk"))


def _revive(rows: Iterable[Dataset], *, by: Any, batch: str, now: datetime) -> None:
    deleted = [row for row in rows if row.deleted_at is not None]
    if not deleted:
        return
    for row in deleted:
        row.deleted_at, row.deleted_by = None, None
        row.row_version += 1
        row.updated_at = now
    bulk.update(deleted, ["deleted_at", "deleted_by", "row_version", "updated_at"])
    entries = [_entry("dataset.restore", row, reason="It is published again.") for row in deleted]
    record(*entries, by=by, batch=batch)


def _make_way(
    publications: Sequence[Publication],
    locked: dict[int, Dataset],
    *,
    system: System,
    ours: Collection[int],
    by: Any,
    batch: str,
    now: datetime,
) -> None:
    """A retired dataset whose name another one takes is called by its number from then on; its place stays."""
    wanted = [
        each.name
        for each in publications
        if each.dataset is not None and each.name and each.name != locked[each.dataset.pk].name
    ]
    if not wanted:
        return
    rows = Dataset.objects.alive().filter(system=system, name__in=wanted, status=Dataset.Status.RETIRED)
    held = _locked(rows.exclude(pk__in=ours))
    if not held:
        return
    entries = []
    for row in held:
        before, ending = row.name, f" (retired {row.pk})"
        row.name = before[: NAME_LENGTH - len(ending)] + ending
        row.row_version += 1
        row.updated_at = now
        reason = "Another dataset has its name now."
        values = {"before": {"name": before}, "after": {"name": row.name}}
        entries.append(_entry("dataset.update", row, reason=reason, **values))
    bulk.update(held, ["name", "row_version", "updated_at"])
    record(*entries, by=by, batch=batch)


def _entry(action: str, row: Dataset, **values: Any) -> Entry:
    system = row.system.code
    return Entry(action, "dataset", row.pk, row.name, system_code=system, dataset_id=row.pk, **values)
