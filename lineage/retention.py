"""Deleting what is older than it has to be kept, in small batches: the only place where events are deleted."""

from __future__ import annotations

import datetime as dt
import time

from django.conf import settings
from django.db import connection
from django.utils import timezone

from lineage.models import Event, OutboxMessage

BATCH = 500
PAUSE_SECONDS = 0.05
RESTS = 24
"""After each batch so many times what it took: fewer than one request in twenty meets a batch."""
LONGEST_SECONDS = 60.0
DELIVERED_KEPT = dt.timedelta(days=7)

_EVENTS = """
DELETE FROM lineage_event WHERE id IN (
    SELECT id FROM lineage_event WHERE happened_at < %s ORDER BY happened_at, id LIMIT %s
)
"""
_MESSAGES = """
DELETE FROM lineage_outboxmessage WHERE id IN (
    SELECT id FROM lineage_outboxmessage WHERE status = 'delivered' AND delivered_at < %s
    ORDER BY delivered_at LIMIT %s
)
"""


def oldest_kept() -> dt.datetime | None:
    """Events that happened before this moment are deleted; None keeps them all."""
    days = settings.AIDE_EVENT_RETENTION_DAYS
    return timezone.now() - dt.timedelta(days=days) if days else None


def is_due() -> bool:
    """Whether anything is old enough."""
    sent = OutboxMessage.objects.filter(
        status=OutboxMessage.Status.DELIVERED, delivered_at__lt=timezone.now() - DELIVERED_KEPT
    )
    if sent.exists():
        return True
    limit = oldest_kept()
    return limit is not None and Event.objects.filter(happened_at__lt=limit).exists()


def prune(
    *, batch: int = BATCH, pause: float = PAUSE_SECONDS, seconds: float = LONGEST_SECONDS
) -> dict[str, int]:
    """Delete events by the time they happened and delivered messages by when; what is undelivered stays.

    Each batch is a transaction of its own with a long pause after it, so that the answers to others are hardly later;
    what the time does not suffice for is left to the next call. Returns how many of each.
    """
    until = time.monotonic() + seconds
    limit = oldest_kept()
    counts = {"events": 0, "messages": 0}
    if limit is not None:
        counts["events"] = _delete(_EVENTS, limit, batch=batch, pause=pause, until=until)
    sent_before = timezone.now() - DELIVERED_KEPT
    counts["messages"] = _delete(_MESSAGES, sent_before, batch=batch, pause=pause, until=until)
    return counts


def _delete(statement: str, before: dt.datetime, *, batch: int, pause: float, until: float) -> int:
    limit = connection.ops.adapt_datetimefield_value(before)
    deleted = 0
    while time.monotonic() < until:
        started = time.monotonic()
        with connection.cursor() as cursor:
            cursor.execute(statement, [limit, batch])
            count = cursor.rowcount
        deleted += count
        if count < batch:
            break
        time.sleep(max(pause, RESTS * (time.monotonic() - started)))
    return deleted
