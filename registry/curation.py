"""What people write about data: descriptions, owners and tags. The only writer of human-owned values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import transaction

from aide.audit.entries import Entry, record
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
    foreign = sorted(set(values) - set(HUMAN_OWNED[model]))
    if foreign:
        raise Invalid(detail=f"{foreign[0]} belongs to the source and cannot be written here.")
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
    dataset = row if isinstance(row, Dataset) else row.dataset
    kind = "dataset" if isinstance(row, Dataset) else "field"
    record(
        Entry(
            f"{kind}.edit",
            kind,
            row.pk,
            str(row),
            system_code=dataset.system.code,
            dataset_id=dataset.pk,
            before=before,
            after=after,
            reason=reason,
        ),
        by=by,
        batch=batch,
    )
    return row
