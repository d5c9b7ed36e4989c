"""From the spool to the server: which call a kind of event needs, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aide_sdk.client import SyncAideClient
from aide_sdk.errors import TransportError, ValidationError
from aide_sdk.spool.store import Spooled

KINDS = ("metadata", "lineage")


@dataclass(frozen=True)
class Outcome:
    """Events that the server has, and events that it will never take, with reasons."""

    done: tuple[Spooled, ...] = ()
    refused: tuple[tuple[Spooled, str], ...] = ()


def send(client: SyncAideClient, events: Sequence[Spooled]) -> Outcome:
    """Send events of one kind, in order. AideError when they are to be sent again later.

    A batch that the server refuses as a whole is halved until the culprit is alone.
    """
    bodies = [json.loads(event.body) for event in events]
    try:
        reasons = _metadata(client, bodies) if events[0].kind == "metadata" else _lineage(client, bodies)
    except ValidationError as error:
        if len(events) == 1:
            return Outcome(refused=((events[0], str(error)),))
        middle = len(events) // 2
        first = send(client, events[:middle])
        # What the first half settled stays unsettled if the second fails: the server knows it again.
        second = send(client, events[middle:])
        return Outcome(first.done + second.done, first.refused + second.refused)
    told = list(zip(events, reasons, strict=True))
    return Outcome(
        tuple(event for event, reason in told if reason is None),
        tuple((event, reason) for event, reason in told if reason is not None),
    )


def _metadata(client: SyncAideClient, bodies: list[dict[str, Any]]) -> list[str | None]:
    """A reason for each event that was refused, None for the others."""
    # Without an Idempotency-Key: the server knows the events again by their ids.
    outcomes = client.metadata.create_many(bodies, idempotency_key="")
    if len(outcomes) != len(bodies):
        raise TransportError("The server told of another number of events than were sent.")
    return [_reason(each.reason) if each.status == "refused" else None for each in outcomes]


def _lineage(client: SyncAideClient, bodies: list[dict[str, Any]]) -> list[str | None]:
    reasons: list[str | None] = [None] * len(bodies)
    for failed in client.lineage.create_many(bodies, idempotency_key="").failed_events:
        if failed.get("retriable"):
            raise TransportError(f"The server asks to send an event again: {_reason(failed.get('reason'))}")
        index = failed.get("index")
        if not isinstance(index, int) or not 0 <= index < len(bodies):
            raise TransportError("The server told of an event that was not sent.")
        reasons[index] = _reason(failed.get("reason"))
    return reasons


def _reason(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value) if value else "no reason given"
