"""Searching events: by an additional value, and newest first from a place on."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL

from lineage.models import Event
from lineage.sessions import Told

_ON_SQLITE = (
    "EXISTS (SELECT 1 FROM json_each(lineage_event.additional_values) WHERE key = %s AND value {test})"
)
_ON_POSTGRESQL = "lineage_event.additional_values ->> %s {test}"


FEW = 40_000
"""So many events are looked through one by one rather than held against all that an index has of a frequent value."""


def are_few(events: QuerySet[Event]) -> bool:
    """Whether these are so few that an index over values would only be a detour. Counts no further."""
    return events.order_by().values("pk")[: FEW + 1].count() <= FEW


def with_value(events: QuerySet[Event], key: str, values: list[str], *, few: bool = False) -> QuerySet[Event]:
    """Those that have one of the values under the key; on PostgreSQL by the index over all values.

    With `few` each of the events is looked at: PostgreSQL thinks a frequent value's part of the index cheap to read.
    """
    if connection.vendor == "postgresql" and few:
        return events.filter(_test(_ON_POSTGRESQL.format(test="= ANY(%s)"), key, values))
    if connection.vendor == "postgresql":
        wanted = Q()
        for value in values:
            wanted |= Q(additional_values__contains={key: value})
        return events.filter(wanted) if values else events.none()
    marks = ", ".join(["%s"] * len(values))
    return events.filter(_test(_ON_SQLITE.format(test=f"IN ({marks})"), key, *values))


def with_value_like(events: QuerySet[Event], key: str, pattern: str) -> QuerySet[Event]:
    """Those whose value under the key holds the text in any case; with `%` in it, the pattern is the whole value."""
    text = pattern if "%" in pattern else f"%{pattern}%"
    escaped = text.replace("\\", "\\\\").replace("_", "\\_")
    if connection.vendor == "postgresql":
        return events.filter(_test(_ON_POSTGRESQL.format(test="ILIKE %s"), key, escaped))
    return events.filter(_test(_ON_SQLITE.format(test="LIKE %s ESCAPE '\\'"), key, escaped))


def before(events: QuerySet[Event], moment: dt.datetime, number: int) -> QuerySet[Event]:
    """Those that come after the event of that time and id in the order newest first."""
    later = Q(happened_at__lt=moment) | Q(pk__lt=number)
    return events.filter(later, happened_at__lte=moment)


def _test(sql: str, *params: Any) -> Any:
    return RawSQL(sql, params, output_field=BooleanField())  # noqa: S611 (the text is ours, values are parameters)


def told(events: QuerySet[Event], *, most: int) -> tuple[list[Told], bool]:
    """The newest of these events in the order in which they happened, and whether there are more than `most`."""
    columns = ("event_id", "resource", "subject", "action", "happened_at", "additional_values")
    rows = list(events.order_by("-happened_at", "-pk").values_list(*columns)[: most + 1])
    return [Told(*row) for row in reversed(rows[:most])], len(rows) > most
