"""Whether the messages of events are on their way, by the short indexes of what is not delivered."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from lineage.models import OutboxMessage

WAITING, DEAD, SENT, LOGGED = "waiting", "not delivered", "sent", "to the log"
DELIVERY_CHIPS = {WAITING: "plain", DEAD: "bad", SENT: "ok", LOGGED: "ok"}


def delivery_of(event_ids: Sequence[str]) -> dict[str, str]:
    """How it stands with each; what neither waits nor failed was sent, or only logged where there is no broker."""
    open_ones = OutboxMessage.objects.filter(
        event_id__in=event_ids, status__in=[OutboxMessage.Status.PENDING, OutboxMessage.Status.DEAD]
    ).values_list("event_id", "status")
    found = {each: WAITING if status == OutboxMessage.Status.PENDING else DEAD for each, status in open_ones}
    settled = SENT if settings.AIDE_KAFKA_SERVERS else LOGGED
    return {each: found.get(each, settled) for each in event_ids}
