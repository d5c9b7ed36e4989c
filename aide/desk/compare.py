"""Two versions of one dataset side by side: one row a field identity, with the risk of each difference and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from aide.desk.net_changes import net_changes
from crawling import diff as schema_diff
from crawling.models import Change
from registry import history, reading
from registry.documents import field_path, split_path
from registry.models import Dataset, DatasetSchema, Field


@dataclass(frozen=True)
class Row:
    """A field that differs, with the worst risk of its differences and the sentences that say why."""

    pair: history.FieldPair
    risk: str
    whys: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Everything that the compare page shows."""

    before: DatasetSchema
    after: DatasetSchema
    rows: tuple[Row, ...]
    unchanged: tuple[history.FieldPair, ...]
    whole: tuple[schema_diff.Change, ...]
    came_and_went: tuple[Field, ...] = field(default=())

    @property
    def counts(self) -> dict[str, int]:
        found = {"added": 0, "removed": 0, "changed": 0}
        for row in self.rows:
            found[row.pair.state] += 1
        return found


def versions_of(dataset: Dataset) -> list[DatasetSchema]:
    """The published versions, the newest first, with how many approved changes made each."""
    ops = Change.Op
    rows = dataset.schemas.filter(status=DatasetSchema.Status.PUBLISHED).select_related("published_by")
    counted = rows.annotate(
        plus=Count("applied_changes", filter=Q(applied_changes__op=ops.ADD_FIELD)),
        minus=Count("applied_changes", filter=Q(applied_changes__op=ops.DROP_FIELD)),
        others=Count(
            "applied_changes",
            filter=~Q(applied_changes__op__in=[ops.ADD_FIELD, ops.DROP_FIELD, ops.ADD_DATASET]),
        ),
    )
    return list(counted.order_by("-version_num")[:200])


def chosen(versions: list[DatasetSchema], asked: Any) -> tuple[DatasetSchema, DatasetSchema] | None:
    """The two versions that the address names (`from`, `to` or `since`), else the newest two; None without two."""
    if not versions:
        return None
    by_number = {str(version.version_num): version for version in versions}
    after = by_number.get(asked.get("to", ""), versions[0])
    since = _moment(asked.get("since", ""))
    if since is not None:
        earlier = [v for v in versions if v.published_at and v.published_at <= since]
        return (earlier[0] if earlier else versions[-1]), after
    before = by_number.get(asked.get("from", ""))
    if before is None:
        place = versions.index(after)
        before = versions[min(place + 1, len(versions) - 1)]
    return before, after


def compare(dataset: Dataset, before: DatasetSchema, after: DatasetSchema) -> Comparison:
    """The net difference of two versions, in four statements however many fields there are."""
    bindings = reading.bindings_of((before, after))
    pairs = history.pairs(bindings[before.pk], bindings[after.pk])
    changes = net_changes(dataset, before, after, bindings=bindings)
    by_path: dict[str, list[schema_diff.Change]] = {}
    for change in changes:
        if change.field is not None:
            by_path.setdefault(_path_after(change), []).append(change)
    rows = [_row(pair, by_path.get(pair.path, [])) for pair in pairs if pair.state != "same"]
    order = {risk: place for place, risk in enumerate(reversed(schema_diff.RISKS))}
    rows.sort(key=lambda row: order.get(row.risk, len(order)))
    return Comparison(
        before,
        after,
        tuple(rows),
        tuple(pair for pair in pairs if pair.state == "same"),
        tuple(change for change in changes if change.field is None),
        _came_and_went(dataset, before, after),
    )


def _path_after(change: schema_diff.Change) -> str:
    """The path that a changed field has in the newer version."""
    path = change.field or ""
    if change.op != "rename_field":
        return path
    return field_path([*split_path(path)[:-1], str(change.after)])


def _row(pair: history.FieldPair, changes: list[schema_diff.Change]) -> Row:
    worst = max((change.risk for change in changes), key=schema_diff.RISKS.index, default="")
    return Row(pair, worst, tuple(dict.fromkeys(change.why for change in changes)))


def _came_and_went(dataset: Dataset, before: DatasetSchema, after: DatasetSchema) -> tuple[Field, ...]:
    between = (before.version_num + 1, after.version_num - 1)
    if between[0] > between[1]:
        return ()
    rows = Field.objects.filter(dataset=dataset, bindings__dataset_schema__version_num__range=between)
    rows = rows.exclude(bindings__dataset_schema__in=[before.pk, after.pk])
    return tuple(rows.distinct().order_by("path")[:100])


def _moment(text: str) -> datetime | None:
    """The end of a day such as 2026-03-01, or None for anything else."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return timezone.make_aware(datetime.combine(day, datetime.max.time()))
