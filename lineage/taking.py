"""Taking over OpenLineage events from Kafka: the bare event as the message's value, each stored once."""

from __future__ import annotations

from collections.abc import Sequence

from aide.core.api.wire import load_json
from lineage.consuming import Came
from lineage.merging import REFUSED, Incoming, receive


def take_messages(came: Sequence[Came]) -> dict[int, str]:
    """Store and merge messages; the reasons for those that are no events, by their place.

    They are not announced again: whoever reads our topic can read theirs.
    """
    items = [_item(each.value) for each in came]
    receipts = receive(items, announce=False)
    return {place: receipt.reason for place, receipt in enumerate(receipts) if receipt.status == REFUSED}


def _item(value: bytes | None) -> Incoming:
    if value is None:
        return Incoming(wrong="The message has no value.")
    try:
        return Incoming(load_json(value), value.decode("utf-8-sig").strip())
    except ValueError as error:
        return Incoming(wrong=str(error))
