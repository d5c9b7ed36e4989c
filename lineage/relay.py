"""The relay: it sends what the outbox promised, in the order of each key, and writes down what became of it.

Several relays may work at once, each on its own shares of the keys. A message is delivered only when the broker has
acknowledged it. What fails by its own fault waits longer each time, with the later ones of its key, and is dead after
some tries; what fails because the broker is away waits as it is.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from lineage import leases
from lineage.kafka import EVENT_ID, KIND, ORIGIN, Failed, Fault, Producer, Record, Sent, origin
from lineage.models import OutboxMessage

log = structlog.get_logger(__name__)

MOST_TRIES = {Fault.MESSAGE: 3, Fault.TOPIC: 8}
LONGEST_WAIT = 300.0


@dataclass(frozen=True)
class Pace:
    """How much at once, and how long: seconds. The lease outlives a turn by far."""

    window: int = 2000
    deadline: float = 8.0
    lease: float = 30.0
    idle: float = 0.5
    longest_pause: float = 30.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pending message as the relay needs it."""

    id: int
    kind: str
    topic: str
    key: str
    event_id: str
    payload: str
    attempts: int


class Sink(Protocol):
    """Where messages go."""

    name: str

    def send(self, messages: Sequence[Waiting], *, within: float) -> list[Sent | Failed]: ...

    def close(self) -> None: ...


class LogSink:
    """Delivers to the log where no broker is set."""

    name = "log"

    def send(self, messages: Sequence[Waiting], *, within: float) -> list[Sent | Failed]:
        for each in messages:
            log.info(
                "outbox.message",
                kind=each.kind,
                topic=each.topic,
                key=each.key,
                event_id=each.event_id,
                payload=each.payload,
            )
        return [Sent(None, None) for _ in messages]

    def close(self) -> None:
        """Nothing is held."""


class KafkaSink:
    """Delivers to Kafka, with the headers by which readers know repetitions and we our own."""

    name = "kafka"

    def __init__(self) -> None:
        self._producer = Producer()
        self._origin = (ORIGIN, origin().encode())

    def send(self, messages: Sequence[Waiting], *, within: float) -> list[Sent | Failed]:
        records = [
            Record(
                each.topic,
                each.key.encode(),
                each.payload.encode(),
                [(EVENT_ID, each.event_id.encode()), self._origin, (KIND, each.kind.encode())],
            )
            for each in messages
        ]
        return self._producer.send(records, within=within)

    def close(self) -> None:
        self._producer.close()


def sink_of_settings() -> Sink:
    """Kafka where a broker is set, else the log."""
    return KafkaSink() if settings.AIDE_KAFKA_SERVERS else LogSink()


@dataclass
class Relay:
    """One relay; `turn` sends what is due once, `run` goes on until it is told to stop."""

    name: str
    sink: Sink = field(default_factory=sink_of_settings)
    pace: Pace = field(default_factory=Pace)
    failures: int = 0
    shares: list[int] = field(default_factory=list)
    _held_at: float = -1e9
    _paused_until: float = 0.0
    _first: int = 0

    def run(self, stop: threading.Event, *, on_idle: Callable[[], None] = lambda: None) -> None:
        """Send until `stop` is set; a database that is away is waited for."""
        while not stop.is_set():
            close_old_connections()
            try:
                done = self.turn()
            except DatabaseError as error:
                log.warning("relay.database_away", error=type(error).__name__)
                connection.close()
                done = 0
            if not done:
                on_idle()
                stop.wait(self.pace.idle)
        self.finish()

    def run_until_idle(self, *, seconds: float) -> int:
        """Send until nothing is due, the broker is away, or the time is over. Returns how many were delivered."""
        until = time.monotonic() + seconds
        delivered = 0
        while time.monotonic() < until:
            done = self.turn()
            if not done:
                break
            delivered += done
        return delivered

    def finish(self) -> None:
        """Give the shares back and close."""
        self.sink.close()
        try:
            leases.release(self.name)
        except DatabaseError as error:  # they run out by themselves
            log.warning("relay.shares_not_released", error=type(error).__name__)
        self.shares, self._held_at = [], -1e9

    @property
    def is_paused(self) -> bool:
        """Whether the broker was away a moment ago."""
        return time.monotonic() < self._paused_until

    def turn(self) -> int:
        """Send what is due once. Returns how many were settled, delivered or not."""
        if time.monotonic() - self._held_at > self.pace.lease / 6:
            self.shares = leases.hold(self.name, seconds=self.pace.lease)
            self._held_at = time.monotonic()
        if not self.shares or self.is_paused:
            return 0
        messages = self._due()
        if not messages:
            return 0
        return self._send(messages)

    def _due(self) -> list[Waiting]:
        """Pending messages of our shares, each key's in order; keys that wait for their next try are left out."""
        self._first = (self._first + 1) % len(self.shares)
        order = self.shares[self._first :] + self.shares[: self._first]
        columns = "id, kind, topic, key, event_id, payload, attempts"
        parts = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {columns} FROM lineage_outboxmessage"  # noqa: S608 (numbers of ours)
            f" WHERE status = 'pending' AND shard = {share} AND key NOT IN (SELECT key FROM lineage_outboxmessage"
            f" WHERE status = 'pending' AND shard = {share} AND next_try_at > %s)"
            f" ORDER BY id LIMIT {self.pace.window}) AS s{share}"
            for share in order
        )
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(f"{parts} LIMIT {self.pace.window}", [now] * len(order))
            return [Waiting(*row) for row in cursor.fetchall()]

    def _send(self, messages: list[Waiting]) -> int:
        """Together first; what failed before, and the later ones of its key, one by one after that."""
        together: list[Waiting] = []
        alone: list[Waiting] = []
        careful: set[tuple[str, str]] = set()
        for each in messages:
            if each.attempts or (each.topic, each.key) in careful:
                careful.add((each.topic, each.key))
                alone.append(each)
            else:
                together.append(each)
        results: list[tuple[Waiting, Sent | Failed]] = []
        if together:
            sent = self.sink.send(together, within=self.pace.deadline)
            results += zip(together, sent, strict=True)
        results += self._send_alone(alone, results)
        return self._settle(results)

    def _send_alone(
        self, messages: list[Waiting], before: list[tuple[Waiting, Sent | Failed]]
    ) -> list[tuple[Waiting, Sent | Failed]]:
        failed = {(m.topic, m.key) for m, result in before if isinstance(result, Failed)}
        if any(isinstance(result, Failed) and result.fault is Fault.BROKER for _, result in before):
            return []
        results: list[tuple[Waiting, Sent | Failed]] = []
        until = time.monotonic() + self.pace.deadline / 2
        for each in messages:
            if (each.topic, each.key) in failed:
                continue
            if time.monotonic() > until:
                break
            (result,) = self.sink.send([each], within=self.pace.deadline / 2)
            results.append((each, result))
            if isinstance(result, Failed):
                failed.add((each.topic, each.key))
                if result.fault is Fault.BROKER:
                    break
        return results

    def _settle(self, results: list[tuple[Waiting, Sent | Failed]]) -> int:
        delivered = [(m, r) for m, r in results if isinstance(r, Sent)]
        refused = [(m, r) for m, r in results if isinstance(r, Failed) and r.fault is not Fault.BROKER]
        away = [r for _, r in results if isinstance(r, Failed) and r.fault is Fault.BROKER]
        if delivered:
            _mark_delivered(delivered, sink=self.sink.name)
        if refused:
            _mark_refused(refused)
        if away:
            self.failures += 1
            pause = min(2.0 ** (self.failures - 1), self.pace.longest_pause)
            self._paused_until = time.monotonic() + pause
            log.warning("relay.broker_away", reason=away[0].reason, messages=len(away), pause_seconds=pause)
        else:
            self.failures = 0
        return len(delivered) + len(refused)


def _mark_delivered(results: list[tuple[Waiting, Sent]], *, sink: str) -> None:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    said = (
        "UPDATE lineage_outboxmessage SET status = 'delivered', sink = %s, delivered_at = %s, next_try_at = NULL,"
        " last_error = '', attempts = attempts + 1, first_tried_at = COALESCE(first_tried_at, %s),"
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f'{said} partition = done.partition, "offset" = done.place FROM'
                " unnest(%s::bigint[], %s::integer[], %s::bigint[]) AS done (id, partition, place)"
                " WHERE lineage_outboxmessage.id = done.id AND status = 'pending'",
                [
                    *(sink, now, now, [m.id for m, _ in results]),
                    *([r.partition for _, r in results], [r.offset for _, r in results]),
                ],
            )
        else:
            cursor.executemany(
                f"{said} partition = %s, \"offset\" = %s WHERE id = %s AND status = 'pending'",
                [(sink, now, now, r.partition, r.offset, m.id) for m, r in results],
            )


def _mark_refused(results: list[tuple[Waiting, Failed]]) -> None:
    now = timezone.now()
    for message, failure in results:
        attempts = message.attempts + 1
        is_dead = attempts >= MOST_TRIES[failure.fault]
        wait = dt.timedelta(seconds=min(2.0 ** (attempts - 1), LONGEST_WAIT))
        rows = OutboxMessage.objects.filter(pk=message.id, status=OutboxMessage.Status.PENDING)
        rows.update(
            status=OutboxMessage.Status.DEAD if is_dead else OutboxMessage.Status.PENDING,
            attempts=attempts,
            next_try_at=None if is_dead else now + wait,
            last_error=failure.reason,
        )
        if is_dead:
            log.error("relay.message_dead", message=message.id, topic=message.topic, reason=failure.reason)
