"""Sending to Kafka without losing anything silently: a bounded buffer, one thread, a report.

The one module of this package that knows kafka-python.

What a message goes through: `put` lays it into the buffer; the thread sends a window of messages and waits for
every acknowledgement up to a deadline of its own. Once anything fails or is late the producer is thrown away
(one that has given up a batch never recovers), a new one is built, and everything that was not acknowledged is
sent again, in order. So a message may arrive twice; it carries its event id in a header. One request is in
flight at a time, so that messages of a key keep their order.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

_API_VERSION = (2, 6)  # every broker of today speaks it; asking would block while none answers
EVENT_ID_HEADER = "aide-event-id"


@dataclass(frozen=True)
class Message:
    """One record; `label` is how a report names it."""

    key: bytes
    value: bytes
    event_id: str
    label: str


@dataclass(frozen=True)
class DeliveryReport:
    """What became of everything so far: the number of acknowledged messages, and those that were not."""

    delivered: int
    undelivered: tuple[Message, ...] = ()
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        return not self.undelivered


class MetadataNotAcceptedError(Exception):
    """The buffer stayed full for as long as a caller may be held up; the event was not taken."""


@dataclass(frozen=True)
class Limits:
    """buffer: messages that wait at most. hold: seconds that `put` may wait for room. window: messages under
    way. deadline: seconds until a message under way must be acknowledged. exit: seconds to finish in when the
    program ends. pause, longest_pause: seconds between attempts, doubling."""

    buffer: int = 10_000
    hold: float = 0.05
    window: int = 500
    deadline: float = 15.0
    exit: float = 10.0
    pause: float = 0.1
    longest_pause: float = 5.0


@dataclass
class _State:
    """What the threads share, under one condition."""

    waiting: deque[Message] = field(default_factory=deque)
    delivered: int = 0
    refused: list[Message] = field(default_factory=list)
    reason: str = ""
    refusal: str = ""
    closes_at: float | None = None


class KafkaDelivery:
    """Delivers messages to one topic. `make_producer` is called in the thread, again after every failure."""

    def __init__(
        self,
        topic: str,
        make_producer: Callable[[], Any],
        *,
        logger: logging.Logger,
        limits: Limits | None = None,
    ) -> None:
        self._topic = topic
        self._make_producer = make_producer
        self._logger = logger
        self._limits = limits or Limits()
        self._start_afresh()
        # Now rather than in the thread: some versions of Python start no threads, and a producer has one, once the
        # program has come to its end. No connection is made yet.
        self._first: Any = self._try_to_make()

    def _start_afresh(self) -> None:
        self._pid = os.getpid()
        self._state = _State()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._first = None

    def put(self, message: Message) -> None:
        """Take a message, or raise MetadataNotAcceptedError when the buffer is full and stays so."""
        self._notice_fork()
        until = time.monotonic() + self._limits.hold
        with self._changed:
            while len(self._state.waiting) >= self._limits.buffer:
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise MetadataNotAcceptedError(
                        f"{len(self._state.waiting)} events wait for Kafka already ({self._why()})."
                    )
            self._state.waiting.append(message)
            self._ensure_thread()
            self._changed.notify_all()

    def flush(self, timeout: float | None = 30.0) -> DeliveryReport:
        """Wait until everything was acknowledged, or for `timeout` seconds, and report."""
        self._notice_fork()
        until = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            if self._state.waiting:
                self._ensure_thread()
            self._changed.notify_all()
            while self._state.waiting and self._thread is not None and self._thread.is_alive():
                left = None if until is None else until - time.monotonic()
                if (left is not None and left <= 0) or not self._changed.wait(left):
                    break
            report = self._report()
        if not report.is_complete:
            self._tell(report)
        return report

    def close(self, timeout: float | None = None) -> DeliveryReport:
        """`flush`, then let the thread end. Afterwards `put` starts another one."""
        report = self.flush(self._limits.exit if timeout is None else timeout)
        with self._changed:
            thread = self._thread
            self._state.closes_at = time.monotonic()
            self._changed.notify_all()
        if thread is not None:
            thread.join(timeout=self._limits.exit)
        first, self._first = self._first, None
        throw_away(first)
        return report

    def _try_to_make(self) -> Any:
        try:
            return self._make_producer()
        except Exception as error:  # noqa: BLE001 (the thread tries again, and tells)
            self._state.reason = describe(error)
            return None

    def _notice_fork(self) -> None:
        if self._pid != os.getpid():  # what waits is the parent's to send
            self._start_afresh()

    def _why(self) -> str:
        return self._state.reason or self._state.refusal or "the broker has not answered yet"

    def _report(self) -> DeliveryReport:
        left = (*self._state.refused, *self._state.waiting)
        return DeliveryReport(self._state.delivered, left, self._why() if left else "")

    def _tell(self, report: DeliveryReport) -> None:
        names = ", ".join(dict.fromkeys(message.label for message in report.undelivered[:10]))
        more = "" if len(report.undelivered) <= 10 else ", …"
        self._logger.error(
            "%d of %d events were not delivered to Kafka (%s): %s%s",
            len(report.undelivered),
            len(report.undelivered) + report.delivered,
            report.reason,
            names,
            more,
        )

    # The thread. It is no daemon: the interpreter waits for it, and it sees for itself when the program ends.

    def _ensure_thread(self) -> None:
        self._state.closes_at = None
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._work, name=f"metadata to Kafka ({self._topic})", daemon=False
            )
            self._thread.start()

    def _work(self) -> None:
        producer, self._first = self._first, None
        pause = self._limits.pause
        while (batch := self._next_batch()) is not None:
            try:
                if producer is None:
                    producer = self._make_producer()
                acknowledged, trouble = self._send(producer, batch)
            except Exception as error:  # noqa: BLE001 (kafka-python raises many kinds; all are kept as the reason)
                acknowledged, trouble = 0, error
            with self._changed:
                for _ in range(acknowledged):
                    self._state.waiting.popleft()
                self._state.delivered += acknowledged
                self._state.reason = "" if trouble is None else describe(trouble)
                if trouble is not None and acknowledged < len(batch) and is_hopeless(trouble):
                    self._state.refused.append(self._state.waiting.popleft())
                    self._state.reason, self._state.refusal = "", describe(trouble)
                    trouble = None
                self._changed.notify_all()
            if trouble is None:
                pause = self._limits.pause
                continue
            throw_away(producer)
            producer = None
            self._logger.warning("Kafka does not take metadata (%s); it is tried again.", describe(trouble))
            self._rest(pause)
            pause = min(pause * 2, self._limits.longest_pause)
        throw_away(producer, patience=2.0)
        with self._changed:
            self._changed.notify_all()
        if self._is_ending():
            report = self._report()
            if not report.is_complete:
                self._tell(report)

    def _next_batch(self) -> Sequence[Message] | None:
        """What to send next; None when the thread shall end."""
        with self._changed:
            while True:
                now = time.monotonic()
                if self._state.closes_at is None and self._is_ending():
                    self._state.closes_at = now + self._limits.exit
                closes_at = self._state.closes_at
                if closes_at is not None and (not self._state.waiting or now >= closes_at):
                    return None
                if self._state.waiting:
                    return list(itertools.islice(self._state.waiting, self._limits.window))
                self._changed.wait(0.1)

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._changed:
            while (left := until - time.monotonic()) > 0:
                if self._state.closes_at is not None and time.monotonic() >= self._state.closes_at:
                    return
                self._changed.wait(min(left, 0.1))

    @staticmethod
    def _is_ending() -> bool:
        return not threading.main_thread().is_alive()

    def _send(self, producer: Any, batch: Sequence[Message]) -> tuple[int, Exception | None]:
        """How many from the front were acknowledged, and what went wrong with the next one."""
        until = time.monotonic() + self._limits.deadline
        if self._state.closes_at is not None:
            until = min(until, max(self._state.closes_at, time.monotonic() + 0.5))
        futures = []
        trouble: Exception | None = None
        for message in batch:
            try:
                headers = [(EVENT_ID_HEADER, message.event_id.encode())]
                futures.append(
                    producer.send(self._topic, value=message.value, key=message.key, headers=headers)
                )
            except Exception as error:  # noqa: BLE001 (told as the reason)
                trouble = error
                break
        for position, future in enumerate(futures):
            try:
                future.get(timeout=max(0.0, until - time.monotonic()))
            except Exception as error:  # noqa: BLE001 (told as the reason)
                return position, error
        return len(futures), trouble


def throw_away(producer: Any, *, patience: float = 0.0) -> None:
    """Close a producer without waiting for what it still holds, or with a little patience."""
    if producer is None:
        return
    try:
        if not patience:  # `close` alone would wait for what is under way, and leave a hung thread behind
            producer._sender.force_close()
            producer._sender.join(2.0)
        producer.close(timeout=patience)
    except Exception:
        logging.getLogger(__name__).debug("closing a producer failed", exc_info=True)


def describe(error: Exception) -> str:
    """An error in a few words."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__


def is_hopeless(error: Exception) -> bool:
    """Whether sending this one message again can never succeed."""
    from kafka import errors

    return isinstance(error, errors.MessageSizeTooLargeError | errors.InvalidTopicError)


def kafka_producer(servers: Sequence[str], options: dict[str, Any]) -> Any:
    """A producer of kafka-python: acknowledged by all replicas, in order, giving up in seconds."""
    from kafka import KafkaProducer

    return KafkaProducer(
        bootstrap_servers=list(servers),
        client_id="aide-sdk",
        api_version=_API_VERSION,
        acks="all",
        max_in_flight_requests_per_connection=1,
        linger_ms=5,
        max_block_ms=3_000,
        request_timeout_ms=5_000,
        delivery_timeout_ms=10_000,
        reconnect_backoff_max_ms=1_000,
        **options,
    )
