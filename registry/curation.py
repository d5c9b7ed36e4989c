"""What people write about data: descriptions, owners and tags. The only writer of human-owned values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core import bulk
from aide.core.errors import Conflict, Invalid
from registry.models import Dataset, Field

Subject = TypeVar("Subject", Dataset, Field)

HUMAN_OWNED: dict[type, tuple[str, ...]] = {
    Dataset: ("description", "owner", "tags", "note", "layer", "compatibility", "status", "extra"),
    Field: ("description", "owner", "tags", "note"),
}


@transaction.atomic
def edit(
    subject: Subject,
    values: Mapping[str, Any],
    *,
    by: Any,
    row_version: int | None = None,
    reason: str = "",
    batch: str = "",
) -> Subject:
    """Write human-owned values of a dataset or a field, with an audit entry; equal values write nothing.

    Raises VERSION_CONFLICT when `row_version` is given and the row has moved on since; the present values are
    then in the error's `extra["current"]`.
    """
    model = type(subject)
    _refuse_foreign(model, values)
    row = model._default_manager.select_for_update().get(pk=subject.pk)
    if row_version is not None and row.row_version != row_version:
        current = {name: getattr(row, name) for name in HUMAN_OWNED[model]}
        raise Conflict(
            "VERSION_CONFLICT",
            "Someone else saved first.",
            extra={"current": current | {"row_version": row.row_version}},
        )
    before = {name: getattr(row, name) for name, value in values.items() if getattr(row, name) != value}
    if not before:
        return row
    after: dict[str, Any] = {name: values[name] for name in before}
    for name, value in after.items():
        setattr(row, name, value)
    row.row_version += 1
    row.save(update_fields=[*after, "row_version", "updated_at"])
    record(_entry(row, before=before, after=after, reason=reason), by=by, batch=batch)
    return row


@dataclass(frozen=True)
class Written:
    """What `edit_many` did to one row: the values that it changed, as they were and as they are."""

    before: dict[str, Any]
    after: dict[str, Any]


@transaction.atomic
def edit_many(
    model: type[Dataset] | type[Field],
    wanted: Mapping[int, Callable[[Any], Mapping[str, Any]]],
    *,
    by: Any,
    reason: str = "",
    batch: str = "",
) -> dict[int, Written]:
    """Write human-owned values of many rows of one model in a constant number of statements.

    For each row, by id, a function says what it gets, from what the row holds now: it is called once the row is
    locked, so nothing that someone saved meanwhile is lost. Rows that are gone or hold these values already are
    not in the answer. Each row that changes gets an audit entry and a higher `row_version`.
    """
    rows: list[Any] = list(
        model._default_manager.select_for_update(of=("self",))
        .filter(pk__in=list(wanted))
        .select_related("system" if model is Dataset else "dataset__system")
        .order_by("pk")
    )
    written: dict[int, Written] = {}
    changed, names = [], set()
    now = timezone.now()
    for row in rows:
        values = wanted[row.pk](row)
        _refuse_foreign(model, values)
        before = {name: getattr(row, name) for name, value in values.items() if getattr(row, name) != value}
        if not before:
            continue
        after = {name: values[name] for name in before}
        for name, value in after.items():
            setattr(row, name, value)
        row.row_version += 1
        row.updated_at = now
        written[row.pk] = Written(before, after)
        changed.append(row)
        names |= set(after)
    bulk.update(changed, [*sorted(names), "row_version", "updated_at"])
    entries = [
        _entry(row, before=written[row.pk].before, after=written[row.pk].after, reason=reason)
        for row in changed
    ]
    record(*entries, by=by, batch=batch)
    return written


def _refuse_foreign(model: type[Dataset] | type[Field], values: Mapping[str, Any]) -> None:
    foreign = sorted(set(values) - set(HUMAN_OWNED[model]))
    if foreign:
        raise Invalid(detail=f"{foreign[0]} belongs to the source and cannot be written here.")


def _entry(row: Dataset | Field, *, before: Any, after: Any, reason: str) -> Entry:
    dataset = row if isinstance(row, Dataset) else row.dataset
    kind = "dataset" if isinstance(row, Dataset) else "field"
    return Entry(
        f"{kind}.edit",
        kind,
        row.pk,
        str(row),
        system_code=dataset.system.code,
        dataset_id=dataset.pk,
        before=before,
        after=after,
        reason=reason,
    )
