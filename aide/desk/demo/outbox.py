"""What of the story went to Kafka: delivered, save three messages that are dead. Only the demo uses it.

The relay would send it now and to the log. In the story a broker took it: the rows are as the relay leaves them.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aide.core import bulk
from lineage import outbox
from lineage.models import OutboxMessage

if TYPE_CHECKING:
    from aide.desk.demo.clock import Clock

DELIVERED = 1204
PARTITIONS = 3
TOO_LARGE = 1_200_000
Kind, Status = OutboxMessage.Kind, OutboxMessage.Status


def deliver(now: datetime, *, clock: Clock) -> None:
    """Tell what became of every message: the newest are delivered, older ones gone, three are dead."""
    waiting = OutboxMessage.objects.filter(status=Status.PENDING)
    metadata = waiting.filter(kind=Kind.METADATA).count()
    catalog = waiting.exclude(kind=Kind.METADATA).order_by("-pk").values_list("pk", flat=True)
    kept = list(catalog[: DELIVERED - metadata])
    waiting.exclude(kind=Kind.METADATA).exclude(pk__in=kept).delete()
    _deliver(list(waiting.order_by("pk")), now=now)
    clock.at(now - timedelta(hours=26))
    _die()


def _deliver(rows: list[OutboxMessage], *, now: datetime) -> None:
    """The topics were filled anew yesterday; what is younger went out at once."""
    filled = now - timedelta(hours=22)
    offsets = dict.fromkeys(range(PARTITIONS), 41_000)
    for number, row in enumerate(rows):
        part = row.shard % PARTITIONS
        offsets[part] += 1
        at = max(filled + timedelta(milliseconds=40 * number), row.created_at + timedelta(seconds=1))
        row.status, row.sink, row.attempts = Status.DELIVERED, "kafka", 1
        row.partition, row.offset = part, offsets[part]
        row.first_tried_at, row.delivered_at = at, at
    bulk.update(rows, ["status", "sink", "attempts", "partition", "offset", "first_tried_at", "delivered_at"])


def _die() -> None:
    """One message that no broker takes, and two for a topic that was never made."""
    large = json.dumps({"resource": "lake/web/clicks", "subject": "profile", "histogram": "0" * TOO_LARGE})
    outbox.put(
        [
            outbox.Message(Kind.LINEAGE.value, "job:airflow/profile.clicks", "demo-large", large),
            outbox.Message(Kind.METADATA.value, "partner-a", "demo-partner-1", '{"resource": "partner-a"}'),
            outbox.Message(Kind.METADATA.value, "partner-b", "demo-partner-2", '{"resource": "partner-b"}'),
        ]
    )
    rows = OutboxMessage.objects.filter(event_id__startswith="demo-", status=Status.PENDING)
    said = {"status": Status.DEAD, "attempts": 8, "next_try_at": None}
    rows.filter(event_id="demo-large").update(
        **said | {"attempts": 3}, last_error="The broker refuses the message: MessageSizeTooLargeError."
    )
    rows.update(
        **said, topic="metadata-partners",
        last_error="The broker refuses the topic: UnknownTopicOrPartitionError.",
    )  # fmt: skip
