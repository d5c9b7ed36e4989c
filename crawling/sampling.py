"""Looks at some values of a system that allows it and keeps counts of their shapes. Off unless the system says so."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import structlog
from aide_crawler import CrawlError
from aide_crawler.sampling import Table, can_sample, sample
from django.dispatch import receiver
from django.utils import timezone

from aide.audit.entries import recorded
from aide.work.queue import enqueue
from crawling import connect
from registry import shapes, suggesting
from registry.models import Dataset, FieldBinding, System
from registry.pii.kinds import family_of
from registry.pii.values import shapes_of
from registry.reading import place_of

log = structlog.get_logger(__name__)
TASK = "crawling.sample_values"
AT_ONCE = 200
FAMILIES = frozenset({"", "text", "date", "network", "choice"})
"""Families of types whose values can look like personal data."""


@receiver(recorded, dispatch_uid="crawling.sampling")
def look(*, entries: list[Any], **_: Any) -> None:
    """A version that was published has its values looked at, and all of a system that allows it from now on."""
    published = [
        entry.dataset_id for entry in entries if entry.action == "dataset.publish" and entry.dataset_id
    ]
    allowed = [
        int(entry.object_id)
        for entry in entries
        if entry.action == "system.update"
        and isinstance(entry.after, dict)
        and entry.after.get("sample_values")
    ]
    if allowed:
        published += suggesting.present().filter(system__in=allowed).values_list("pk", flat=True)
    if published:
        sample_soon(published)


def sample_soon(datasets: Iterable[int]) -> int:
    """Queue a look at the values of these datasets, where their systems allow it. Returns at how many datasets."""
    listed = sorted(set(datasets))
    count = 0
    for start in range(0, len(listed), 500):
        rows = Dataset.objects.filter(pk__in=listed[start : start + 500], system__sample_values=True)
        allowed = list(rows.order_by("pk").values_list("pk", flat=True))
        count += len(allowed)
        for place in range(0, len(allowed), AT_ONCE):
            enqueue(TASK, dataset_ids=allowed[place : place + AT_ONCE])
    return count


def sample_now(datasets: Iterable[int]) -> int:
    """Look at values, keep the counts of their shapes, and have the rules look again. Returns at how many columns.

    No transaction is open while the source is read. A source that cannot be reached is told in the log by its code.
    """
    rows = Dataset.objects.filter(
        pk__in=sorted(set(datasets)), kind=Dataset.Kind.RDBMS, object_kind="table", deleted_at__isnull=True,
        system__sample_values=True, system__is_active=True, current_schema__isnull=False,
    )  # fmt: skip
    by_system: dict[int, list[Dataset]] = {}
    for row in rows.select_related("system__flavor", "system__credential_ref").order_by("pk"):
        by_system.setdefault(row.system_id, []).append(row)
    done = 0
    for listed in by_system.values():
        done += _sample(listed[0].system, listed)
        suggesting.suggest([row.pk for row in listed])
    return done


def _sample(system: System, datasets: list[Dataset]) -> int:
    fields, tables = _tables(datasets)
    try:
        source = connect.connection_to(system)
        if not tables or not can_sample(source.url):
            return 0
        count = partial(shapes_of, today=timezone.localdate())
        counted = sample(source.url, tables, count, password=source.password)
    except CrawlError as error:
        log.warning("pii.not_sampled", system=system.code, error=error.code)
        return 0
    missed = [table.name for table in tables if (table.schema, table.name) not in counted]
    if missed:
        log.warning("pii.tables_not_sampled", system=system.code, count=len(missed), first=missed[:20])
    found = {
        fields[place, name]: evidence
        for place, columns in counted.items()
        for name, evidence in columns.items()
        if evidence.sampled
    }
    shapes.keep(found)
    return len(found)


def _tables(datasets: list[Dataset]) -> tuple[dict[tuple[tuple[str, str], str], int], list[Table]]:
    """The columns of the datasets whose values may say something: fields by place and name, and what to read."""
    places = {row.current_schema_id: place_of(row) for row in datasets}
    rows = FieldBinding.objects.filter(dataset_schema_id__in=places, parent_field__isnull=True, hidden=False)
    fields: dict[tuple[tuple[str, str], str], int] = {}
    columns: dict[tuple[str, str], list[str]] = {}
    names = ("dataset_schema_id", "field_id", "name", "native_type")
    for schema_id, field_id, name, native_type in rows.order_by("pk").values_list(*names):
        if family_of(native_type) in FAMILIES:
            fields[places[schema_id], name] = field_id
            columns.setdefault(places[schema_id], []).append(name)
    return fields, [Table(schema, name, listed) for (schema, name), listed in columns.items()]
