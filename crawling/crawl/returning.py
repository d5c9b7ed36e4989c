"""Datasets that come back after they were retired or deleted: rated by what differs from their last version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q

from crawling.baseline import Known, context_of
from crawling.diff import RISKS, SAFE, Change, Context, DatasetDiff, diff
from registry import documents, reading
from registry.models import Dataset, System
from registry.typesystem import Catalogue

Document = Mapping[str, Any]


def rate_returning(
    system: System, diffs: Sequence[DatasetDiff], *, catalogue: Catalogue
) -> tuple[DatasetDiff, ...]:
    """The same differences, where a dataset that is back otherwise than it went has the risk of that."""
    new = [each.name for each in diffs if each.before is None and each.after is not None]
    former = _former(system, new)
    if not former:
        return tuple(diffs)
    names = {each.dataset_id: name for name, each in former.items()}
    context = context_of(names)
    return tuple(
        replace(
            each,
            changes=tuple(
                _rated(change, former[each.name].document, each.after, catalogue=catalogue, context=context)
                for change in each.changes
            ),
        )
        if each.before is None and each.after is not None and each.name in former
        else each
        for each in diffs
    )


def _rated(
    change: Change, before: Document, after: Document, *, catalogue: Catalogue, context: Context
) -> Change:
    if change.op != "add_dataset":
        return change
    name = change.dataset
    # No renames: a field that is back under another name is a new field.
    differing = diff(
        before, after, catalogue=catalogue, context=context, dataset=name, renamed_to=name, renames={}
    )
    risk = max((each.risk for each in differing), key=RISKS.index, default=SAFE)
    if RISKS.index(risk) <= RISKS.index(change.risk):
        return change
    worst = [each for each in differing if each.risk == risk]
    paths = {path for path, _ in documents.walk(after)}
    lost = any(dataset == name and path not in paths for dataset, path in context.pii)
    return replace(
        change,
        risk=risk,
        rule="dataset_returns",
        why=_why(worst, risk=risk),
        touches_pii=change.touches_pii or lost or any(each.touches_pii for each in worst),
    )


def _why(worst: Sequence[Change], *, risk: str) -> str:
    first = next((each for each in worst if each.touches_pii), worst[0])
    example = f"{first.field}: {first.why}" if first.field else first.why
    if len(worst) == 1:
        return f"It comes back differently: 1 {risk} change, {example}"
    return f"It comes back differently: {len(worst)} {risk} changes, such as {example}"


def _former(system: System, names: Sequence[str]) -> dict[str, Known]:
    """What was in force last of those names, by name; a retired dataset counts before deleted ones."""
    found: dict[str, tuple[int, int]] = {}
    places: dict[int, tuple[str, str]] = {}
    for start in range(0, len(names), 500):
        for row in _rows(system, names[start : start + 500]):
            found[row.name] = (row.pk, row.current_schema_id or 0)
            places[row.pk] = reading.place_of(row)
    held = reading.documents_of([schema_id for _, schema_id in found.values()], names=places)
    return {
        name: Known(dataset_id, schema_id, held[schema_id]) for name, (dataset_id, schema_id) in found.items()
    }


def _rows(system: System, names: Sequence[str]) -> Iterable[Dataset]:
    """The last row of a name is the one that counts."""
    rows = Dataset.objects.filter(system=system, name__in=names, current_schema__isnull=False).filter(
        Q(status=Dataset.Status.RETIRED) | Q(deleted_at__isnull=False)
    )
    return sorted(rows, key=lambda row: (row.deleted_at is None, row.deleted_at or row.updated_at, row.pk))
