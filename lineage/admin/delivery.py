"""Whether the messages of events are on their way, by the short indexes of what is not delivered."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.models import OutboxMessage

WAITING, DEAD, SENT = "waiting", "not delivered", "sent"
DELIVERY_CHIPS = {WAITING: "plain", DEAD: "bad", SENT: "ok"}


def delivery_of(event_ids: Sequence[str]) -> dict[str, str]:
    """How it stands with each; what neither waits nor failed was sent."""
    open_ones = OutboxMessage.objects.filter(
        event_id__in=event_ids, status__in=[OutboxMessage.Status.PENDING, OutboxMessage.Status.DEAD]
    ).values_list("event_id", "status")
    found = {each: WAITING if status == OutboxMessage.Status.PENDING else DEAD for each, status in open_ones}
    return {each: found.get(each, SENT) for each in event_ids}
