"""What the rules say of datasets' columns now, offered as suggestions. Tasks and faces ask here.

Suggestions are made after each publication, on demand, and anew for every dataset when the rules change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from aide.audit.entries import Entry, new_batch, record
from aide.core.errors import NotFound
from aide.work.queue import enqueue
from registry import pii, rulebook, tagging
from registry.models import Dataset, FieldBinding, FieldShapes, FieldTag, PIITag, System, TagScan

SUGGEST, STALE = "registry.suggest", "registry.suggest_stale"
AT_ONCE = 100
"""Datasets whose columns are classified and written in one transaction."""
A_PIECE = 500
"""Datasets in one piece of queued work."""


def suggest_soon(datasets: Iterable[int]) -> int:
    """Queue a look at these datasets in the caller's transaction. Returns how many pieces of work."""
    pieces = list(_chunks(datasets, A_PIECE))
    for some in pieces:
        enqueue(SUGGEST, dataset_ids=some)
    return len(pieces)


@transaction.atomic
def suggest_for(*, by: Any, system: System | None = None, dataset: Dataset | None = None) -> int:
    """Queue a look at a dataset, or at all of a system, as a person wants it. Returns at how many datasets."""
    rows = present().filter(pk=dataset.pk) if dataset is not None else present().filter(system=system)
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    if not ids:
        raise NotFound("DATASET_NOT_FOUND", "There is no published dataset to look at.")
    suggest_soon(ids)
    where = dataset.system if dataset is not None else system
    record(
        Entry(
            "tag.look_again", "field_tag", None, dataset.name if dataset is not None else str(where),
            system_code=where.code if where is not None else "",
            dataset_id=dataset.pk if dataset is not None else None, after={"datasets": len(ids)},
        ),
        by=by,
    )  # fmt: skip
    return len(ids)


def suggest_all_soon() -> None:
    """Queue a new look at whatever other rules looked at last, once, after the caller's transaction."""
    transaction.on_commit(lambda: enqueue(STALE, key=STALE), robust=True)


def present() -> QuerySet[Dataset]:
    """The datasets that have columns now: published, and neither retired nor deleted."""
    rows = Dataset.objects.filter(deleted_at__isnull=True, system__deleted_at__isnull=True)
    return rows.filter(current_schema__isnull=False).exclude(status=Dataset.Status.RETIRED)


def tag_ids() -> dict[str, int]:
    """The vocabulary: ids by code."""
    return dict(PIITag.objects.filter(deleted_at__isnull=True).values_list("code", "pk"))


def stale(rules: pii.RuleSet | None = None) -> QuerySet[Dataset]:
    """The datasets that the rules in force have not looked at in their present version."""
    mark = rulebook.mark(rules or rulebook.current(), tag_ids())
    seen = Q(tag_scan__rules_version=mark, tag_scan__schema_id=F("current_schema_id"))
    return present().exclude(pk__in=Dataset.objects.filter(seen).values("pk"))


def suggest_stale() -> int:
    """Look at every dataset that the present rules have not looked at. Returns at how many."""
    rules = rulebook.current()
    ids = list(stale(rules).order_by("pk").values_list("pk", flat=True))
    suggest(ids, rules=rules)
    return len(ids)


def suggest(datasets: Iterable[int], *, rules: pii.RuleSet | None = None) -> tagging.Offered:
    """Classify the present columns of some datasets and offer what the rules say. Decided things stay decided."""
    rules = rules or rulebook.current()
    total = tagging.Offered()
    batch = new_batch()
    for some in _chunks(datasets, AT_ONCE):
        found = _offer(some, rules=rules, batch=batch)
        total.new += found.new
        total.changed += found.changed
        total.withdrawn += found.withdrawn
        total.held += found.held
    return total


@transaction.atomic
def _offer(ids: list[int], *, rules: pii.RuleSet, batch: str) -> tagging.Offered:
    datasets = {row.pk: row for row in present().filter(pk__in=ids)}
    fields, columns = _columns(datasets)
    tags = tag_ids()
    answers = pii.classify(columns, rules=rules)
    claims = [
        tagging.Claim(
            field_id=field_id,
            tag_id=tags[each.tag],
            rule=each.rule,
            rule_version=each.rule_version,
            evidence=each.evidence,
            native_type=column.native_type,
            confidence=each.confidence,
            name_only=each.name_only,
        )
        for field_id, column, said in zip(fields, columns, answers, strict=True)
        for each in said
        if each.tag in tags
    ]
    # Columns that are gone keep what people decided; what nobody decided goes with them.
    waiting = FieldTag.objects.filter(
        field__dataset_id__in=ids,
        until__isnull=True,
        state=FieldTag.State.SUGGESTED,
        origin=FieldTag.Origin.RULE,
    )
    seen = {*fields, *waiting.values_list("field_id", flat=True)}
    offered = tagging.offer(claims, fields=seen, origin=FieldTag.Origin.RULE, batch=batch)
    now = timezone.now()
    TagScan.objects.bulk_create(
        [
            TagScan(
                dataset_id=pk,
                rules_version=rulebook.mark(rules, tags),
                schema_id=row.current_schema_id,
                scanned_at=now,
            )
            for pk, row in datasets.items()
            if row.current_schema_id is not None
        ],
        update_conflicts=True,
        unique_fields=["dataset"],
        update_fields=["rules_version", "schema", "scanned_at"],
    )
    return offered


def _columns(datasets: dict[int, Dataset]) -> tuple[list[int], list[pii.Column]]:
    """The fields of the datasets' current versions as the classifier takes them. Two statements."""
    names = (
        "field_id", "parent_field_id", "name", "native_type", "comment", "field__source_comment",
        "dataset_schema__dataset_id",
    )  # fmt: skip
    schemas = [row.current_schema_id for row in datasets.values()]
    rows: list[tuple[Any, ...]] = list(
        FieldBinding.objects.filter(dataset_schema_id__in=schemas).order_by("pk").values_list(*names)
    )
    shapes = _shapes(datasets)
    called = {(row[6], row[0]): row[2] for row in rows}
    fields, columns = [], []
    for field_id, parent_id, name, native, comment, source_comment, dataset_id in rows:
        table = datasets[dataset_id].name
        if parent_id is not None:
            table = f"{table}.{called.get((dataset_id, parent_id), '')}"
        fields.append(field_id)
        columns.append(
            pii.Column(
                table=table,
                name=name,
                native_type=native,
                comment=comment or source_comment,
                values=shapes.get(field_id),
            )
        )
    return fields, columns


def _shapes(datasets: dict[int, Dataset]) -> dict[int, pii.Evidence]:
    """What is known of the values, where the system lets them be looked at."""
    rows = FieldShapes.objects.filter(field__dataset__in=datasets, field__dataset__system__sample_values=True)
    return {row.field_id: pii.Evidence(row.sampled, row.counts) for row in rows}


def _chunks(ids: Iterable[int], size: int) -> Iterator[list[int]]:
    listed = list(dict.fromkeys(ids))
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
