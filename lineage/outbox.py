"""Messages that were promised to Kafka: put, look, replay. Only this module and lineage/relay.py write them."""

from __future__ import annotations

import datetime as dt
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from aide.audit.entries import Entry, new_batch, record
from aide.core import bulk
from aide.core.errors import Invalid
from lineage import waking
from lineage.models import OutboxMessage, OutboxShard

SHARDS = 16
"""Into so many shares the keys are divided; so many relays can work at once."""
MAX_KEY = 1100
MAX_REPLAYED = 1000

COLUMNS = "kind, topic, key, shard, event_id, payload, status, attempts, last_error, sink, created_at"
"""What a message begins with, for the writers of events, who promise in the statement that stores."""
_PUT = ("kind", "topic", "key", "shard", "event_id", "payload", "created_at")

Kind = OutboxMessage.Kind
Status = OutboxMessage.Status


@dataclass(frozen=True, slots=True)
class Message:
    """What is to be sent: messages with the same key keep their order; readers tell repetitions by `event_id`."""

    kind: str
    key: str
    event_id: str
    payload: str


def topic_of(kind: str) -> str:
    """Where a kind goes, by the settings of now."""
    return {
        Kind.METADATA.value: settings.AIDE_KAFKA_METADATA_TOPIC,
        Kind.LINEAGE.value: settings.AIDE_KAFKA_LINEAGE_TOPIC,
        Kind.CATALOG.value: settings.AIDE_KAFKA_CATALOG_TOPIC,
    }[kind]


def shard_of(key: str) -> int:
    """The share a key belongs to, for good."""
    return zlib.crc32(key.encode()) % SHARDS


def put(messages: Sequence[Message]) -> None:
    """Promise messages in the caller's transaction, in their order."""
    if not messages:
        return
    now = timezone.now()
    topics = {kind: topic_of(kind) for kind in {each.kind for each in messages}}
    rows = [
        (
            *(each.kind, topics[each.kind], each.key[:MAX_KEY], shard_of(each.key[:MAX_KEY])),
            *(each.event_id, each.payload, now),
        )
        for each in messages
    ]
    with transaction.atomic():
        bulk.insert_values(OutboxMessage, _PUT, rows)
    waking.after_commit()


def replay(ids: Sequence[int], *, by: Any) -> dict[str, Any]:
    """Send dead messages again, and delivered ones once more; pending ones are on their way already.

    Raises Invalid for ids that there are not. Returns how many of each were queued, and which were skipped.
    """
    wanted = list(dict.fromkeys(ids))
    with transaction.atomic():
        rows = {row.pk: row for row in OutboxMessage.objects.select_for_update().filter(pk__in=wanted)}
        missing = [number for number in wanted if number not in rows]
        if missing:
            listed = ", ".join(map(str, missing[:20]))
            raise Invalid(
                detail=f"There are no messages with these ids: {listed}.",
                errors=[{"field": "ids", "code": "unknown", "detail": f"Not there: {listed}."}],
            )
        again = [row for row in rows.values() if row.status != Status.PENDING]
        before = {row.pk: (row.status, row.last_error) for row in again}
        OutboxMessage.objects.filter(pk__in=[row.pk for row in again]).update(
            status=Status.PENDING, attempts=0, next_try_at=None, sink="", delivered_at=None
        )
        record(
            *(
                Entry(
                    action="outbox.replay",
                    object_type="outbox_message",
                    object_id=row.pk,
                    object_name=f"{row.topic} {row.event_id}",
                    before={"status": before[row.pk][0], "error": before[row.pk][1][:500]},
                    after={"status": Status.PENDING.value},
                )
                for row in again
            ),
            by=by,
            batch=new_batch(),
        )
    waking.after_commit()
    skipped = sorted(set(wanted) - {row.pk for row in again})
    return {"replayed": sorted(row.pk for row in again), "skipped": skipped, "count": len(again)}


def oldest_waiting() -> dt.datetime | None:
    """When the oldest undelivered message was put: the heads of the shares, by index."""
    parts = " UNION ALL ".join(
        "SELECT * FROM (SELECT created_at FROM lineage_outboxmessage"  # noqa: S608 (numbers of ours)
        f" WHERE status = 'pending' AND shard = {shard} ORDER BY id LIMIT 1) AS s{shard}"
        for shard in range(SHARDS)
    )
    with connection.cursor() as cursor:
        cursor.execute(parts)
        found = [row[0] for row in cursor.fetchall()]
    moments = [_aware(each) for each in found]
    return min(moments, default=None)


def relays_alive() -> int:
    """How many relays hold a share at this moment."""
    held = OutboxShard.objects.filter(lease_until__gt=timezone.now())
    return held.order_by().values("relay").distinct().count()


def _aware(moment: Any) -> dt.datetime:
    found = moment if isinstance(moment, dt.datetime) else dt.datetime.fromisoformat(str(moment))
    return found if timezone.is_aware(found) else timezone.make_aware(found, dt.UTC)
