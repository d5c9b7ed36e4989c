"""The export for editing: the list's rows with what can be edited and a mark of what its author saw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch
from django.http import StreamingHttpResponse

from aide.core.exporting import AT_ONCE, stream
from aide.core.spreadsheets import escaped
from aide.desk.bulk.plans import mark_of
from aide.desk.models import Subject
from aide.desk.roundtrip.sheet import columns_of
from registry.models import FieldTag

CONFIRMED = Prefetch(
    "field_tags",
    FieldTag.objects.filter(until__isnull=True, state=FieldTag.State.CONFIRMED)
    .select_related("tag")
    .order_by("tag__code"),
    to_attr="confirmed_tags",
)


def for_editing(changelist: Any, *, subject: Subject) -> StreamingHttpResponse:
    """All rows that the list's filter matches, in its order."""
    return stream(_lines(changelist, subject), name=f"{subject}s for editing", for_people=True)


def _lines(changelist: Any, subject: Subject) -> Iterator[list[Any]]:
    yield list(columns_of(subject))
    rows = changelist.queryset
    if subject == Subject.FIELD:
        rows = rows.prefetch_related(None).prefetch_related(CONFIRMED)
    for row in rows.iterator(chunk_size=AT_ONCE):
        dataset = row.dataset if subject == Subject.FIELD else row
        own = [row.description, row.owner, ", ".join(row.tags)]
        before = [dataset.system.code, dataset.name]
        if subject == Subject.FIELD:
            before.append(row.path)
            own.append(", ".join(tag.tag.code for tag in row.confirmed_tags))
        cells = [*before, *own, row.source_comment]
        yield [row.pk, mark_of(row), *(escaped(cell) for cell in cells)]
