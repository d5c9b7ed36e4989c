"""Reading topics without loss: a message is committed only after it is stored, and one that cannot be taken is kept.

Only the commands that consume use it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from lineage.kafka import EVENT_ID, ORIGIN, Came, Consumer, KafkaError, origin
from lineage.models import RefusedMessage

log = structlog.get_logger(__name__)

AT_ONCE = 500
MAX_KEPT = 65_536
LONGEST_PAUSE = 30.0

Handle = Callable[[Sequence[Came]], dict[int, str]]
"""Stores messages; gives the reasons for those that it refuses, by their place."""


@dataclass
class Counts:
    """What a consumer did so far."""

    read: int = 0
    own: int = 0
    refused: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


def consume(
    topics: Sequence[str],
    *,
    group: str,
    handle: Handle,
    stop: threading.Event,
    until_end: float | None = None,
) -> Counts:
    """Read until `stop` is set, or until nothing came for `until_end` seconds.

    A broker or a database that is away is waited for; then reading goes on after what was committed.
    """
    counts = Counts()
    pause = 1.0
    while not stop.is_set():
        try:
            consumer = Consumer(topics, group=group)
        except (KafkaError, OSError, ValueError) as error:
            log.warning("consumer.broker_away", error=type(error).__name__)
            stop.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            continue
        before = counts.read
        try:
            if _read(consumer, handle, stop, counts, until_end):
                return counts
        except (KafkaError, OSError) as error:
            log.warning("consumer.broker_away", error=type(error).__name__)
        except DatabaseError as error:
            log.warning("consumer.database_away", error=type(error).__name__)
            connection.close()
        finally:
            _close(consumer)
        if counts.read > before:
            pause = 1.0
        stop.wait(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return counts


def _read(
    consumer: Consumer, handle: Handle, stop: threading.Event, counts: Counts, until_end: float | None
) -> bool:
    """Whether the reading is over because nothing came any more."""
    silent_since = timezone.now()
    while not stop.is_set():
        close_old_connections()
        came = consumer.poll(seconds=0.5, most=AT_ONCE)
        if came:
            take(came, handle=handle, counts=counts)
            consumer.commit()
            silent_since = timezone.now()
        elif until_end is not None and (timezone.now() - silent_since).total_seconds() > until_end:
            return True
    return False


def take(came: Sequence[Came], *, handle: Handle, counts: Counts) -> None:
    """Store messages that are not our own, and keep those that are refused, each with its reason."""
    mine = origin().encode()
    others = [each for each in came if each.headers.get(ORIGIN) != mine]
    refused = handle(others) if others else {}
    counts.read += len(came)
    counts.own += len(came) - len(others)
    counts.refused += len(refused)
    now = timezone.now()
    RefusedMessage.objects.bulk_create(
        [
            RefusedMessage(
                topic=others[place].topic,
                partition=others[place].partition,
                offset=others[place].offset,
                reason=reason[:2000],
                body=_shown(others[place].value),
                received_at=now,
            )
            for place, reason in refused.items()
        ],
        ignore_conflicts=True,
    )
    for place, reason in refused.items():
        each = others[place]
        log.warning(
            "consumer.refused",
            topic=each.topic,
            partition=each.partition,
            offset=each.offset,
            reason=reason[:200],
        )


def id_of(came: Came) -> str:
    """The event id of a message that names none in its body: the sender's header, else its place in the topic.

    The broker's time belongs to the place, since a topic that is made anew counts from the beginning.
    """
    header = came.headers.get(EVENT_ID)
    if header:
        text = header.decode("utf-8", "replace").replace("\x00", "")[:200]
        if text.strip():
            return text
    return f"{came.topic[:120]}:{came.partition}:{came.offset}:{came.timestamp}"


def _shown(value: bytes | None) -> str:
    return (
        "" if value is None else value[:MAX_KEPT].decode("utf-8", "backslashreplace").replace("\x00", "\\x00")
    )


def _close(consumer: Consumer) -> None:
    try:
        consumer.close()
    except (KafkaError, OSError) as error:
        log.info("consumer.not_closed", error=type(error).__name__)
