"""The one module that knows kafka-python: sending with a deadline of our own, reading with commits by hand.

Only lineage/relay.py sends, only lineage/consuming.py and lineage/topics.py read.

A kafka-python producer that saw an error or a time-out cannot be trusted any more (its other futures may never
resolve), so it is thrown away and a new one is made.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka import errors as kafka_errors
from kafka.admin import OffsetSpec

EVENT_ID, ORIGIN, KIND = "aide-event-id", "aide-origin", "aide-kind"
"""The headers of every message of ours."""
# A version that every broker of today speaks; asking for it would block for 30 seconds while a broker is down.
API_VERSION = (2, 6)
BLOCK_SECONDS = 3.0
CLOSE_SECONDS = 2.0
LARGEST_REQUEST = 8 * 1024 * 1024

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # it repeats each failure for each try; we log our own


class Fault(StrEnum):
    """Whose fault a failure is: the message's own, its topic's, or the broker's (which will come back)."""

    MESSAGE = "message"
    TOPIC = "topic"
    BROKER = "broker"


@dataclass(frozen=True, slots=True)
class Record:
    """One message to send."""

    topic: str
    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Sent:
    """The broker's acknowledgement."""

    partition: int | None
    offset: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a message was not acknowledged."""

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class Came:
    """One message that was read."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    value: bytes | None
    headers: dict[str, bytes]


_MESSAGE_FAULTS = (
    kafka_errors.MessageSizeTooLargeError,
    kafka_errors.RecordListTooLargeError,
    kafka_errors.InvalidTimestampError,
    kafka_errors.InvalidRecordError,
    kafka_errors.PolicyViolationError,
    kafka_errors.UnsupportedForMessageFormatError,
)
_TOPIC_FAULTS = (
    kafka_errors.InvalidTopicError,
    kafka_errors.UnknownTopicOrPartitionError,
    kafka_errors.TopicAuthorizationFailedError,
)
_MUTE = (
    "The broker takes connections, but does not answer: it hangs, or the security protocol, the certificate or the"
    " log-in is wrong."
)
_HUNG = Failed(Fault.BROKER, "The broker did not acknowledge in time.")


def origin() -> str:
    """What marks messages of this installation, so that it does not read its own."""
    return salted_hmac("lineage.kafka", "origin", algorithm="sha256").hexdigest()[:16]


def connection_settings() -> dict[str, Any]:
    """What every client needs to reach the broker. Holds secrets."""
    found: dict[str, Any] = {
        "bootstrap_servers": list(settings.AIDE_KAFKA_SERVERS),
        "security_protocol": settings.AIDE_KAFKA_SECURITY_PROTOCOL,
        "api_version": API_VERSION,
        "reconnect_backoff_max_ms": 2000,
    }
    optional = {
        "sasl_mechanism": settings.AIDE_KAFKA_SASL_MECHANISM,
        "sasl_plain_username": settings.AIDE_KAFKA_SASL_USERNAME,
        "sasl_plain_password": settings.AIDE_KAFKA_SASL_PASSWORD,
        "ssl_cafile": settings.AIDE_KAFKA_SSL_CAFILE,
        "ssl_certfile": settings.AIDE_KAFKA_SSL_CERTFILE,
        "ssl_keyfile": settings.AIDE_KAFKA_SSL_KEYFILE,
        "ssl_password": settings.AIDE_KAFKA_SSL_PASSWORD,
    }
    return found | {name: value for name, value in optional.items() if value}


class Producer:
    """Sends in the given order and waits for the acknowledgements; made anew after every failure."""

    def __init__(self) -> None:
        self._producer: Any = None
        self._known: set[str] = set()

    def send(self, records: Sequence[Record], *, within: float) -> list[Sent | Failed]:
        """What became of each record; at the latest after `within` seconds and a moment. Never raises KafkaError."""
        deadline = time.monotonic() + within
        waiting: list[Any] = []
        away: Failed | None = None
        bad_topics: dict[str, Failed] = {}
        for record in records:
            started = away or bad_topics.get(record.topic) or self._start(record)
            waiting.append(started)
            if isinstance(started, Failed):  # asking again would take its time again
                if started.fault is Fault.BROKER:
                    away = started
                elif started.fault is Fault.TOPIC:
                    bad_topics[record.topic] = started
        futures = [each for each in waiting if not isinstance(each, Failed)]
        if futures:
            self._flush(deadline)
        results = [each if isinstance(each, Failed) else _result(each) for each in waiting]
        if any(isinstance(each, Failed) for each in results):
            self.close()
        return results

    def close(self) -> None:
        """Throw the producer away; what it still holds is not sent by it any more."""
        producer, self._producer = self._producer, None
        self._known.clear()
        if producer is not None:
            # close() alone waits for what is under way first, and leaves a hung producer running when it gives up.
            producer._sender.force_close()
            producer._sender.join(CLOSE_SECONDS)
            try:
                producer.close(timeout=0)
            except kafka_errors.KafkaError as error:  # it has nothing left to lose
                logging.getLogger(__name__).info("a producer did not close: %s", type(error).__name__)

    def _start(self, record: Record) -> Any:
        try:
            if self._producer is None:
                self._producer = _make_producer()
        except (kafka_errors.KafkaError, ValueError, TypeError, AssertionError) as error:
            # Settings that cannot be: whoever mends them finds every message waiting.
            return Failed(Fault.BROKER, f"The settings of Kafka do not do: {error}"[:500])
        except OSError as error:  # certificates that cannot be read
            return Failed(Fault.BROKER, f"The settings of Kafka do not do: {error.strerror or error}"[:500])
        try:
            if record.topic not in self._known:
                self._producer.partitions_for(record.topic)
                self._known.add(record.topic)
            return self._producer.send(
                record.topic, record.value, key=record.key or None, headers=record.headers
            )
        except kafka_errors.KafkaTimeoutError:
            if broker_answers():
                return Failed(Fault.TOPIC, f"The broker does not know the topic {record.topic}.")
            return Failed(Fault.BROKER, _why_silent())
        except kafka_errors.KafkaError as error:
            return _failure(error)
        except (ValueError, TypeError, AssertionError) as error:
            return Failed(Fault.TOPIC, str(error)[:500])
        except OSError as error:
            return Failed(Fault.BROKER, f"The broker cannot be reached: {type(error).__name__}")

    def _flush(self, deadline: float) -> None:
        try:
            self._producer.flush(timeout=max(0.01, deadline - time.monotonic()))
        except kafka_errors.KafkaError as error:  # what was not acknowledged shows on each future
            logging.getLogger(__name__).info("not all was acknowledged: %s", type(error).__name__)


def _make_producer() -> Any:
    for name in (
        settings.AIDE_KAFKA_SSL_CAFILE,
        settings.AIDE_KAFKA_SSL_CERTFILE,
        settings.AIDE_KAFKA_SSL_KEYFILE,
    ):
        if name:  # kafka-python would only say that nobody answers
            Path(name).open("rb").close()
    return KafkaProducer(
        **connection_settings(),
        client_id="aide-relay",
        acks="all",
        enable_idempotence=True,
        linger_ms=5,
        batch_size=128 * 1024,
        max_request_size=LARGEST_REQUEST,
        max_block_ms=int(BLOCK_SECONDS * 1000),
        request_timeout_ms=5000,
        delivery_timeout_ms=20_000,
        retry_backoff_ms=50,
        metrics_enabled=False,
    )


def _result(future: Any) -> Sent | Failed:
    if not future.is_done:
        return _HUNG
    if future.failed():
        return _failure(future.exception)
    found = future.value
    return Sent(found.partition, found.offset if found.offset is not None and found.offset >= 0 else None)


def _failure(error: BaseException) -> Failed:
    name = type(error).__name__
    if isinstance(error, _MESSAGE_FAULTS):
        return Failed(Fault.MESSAGE, f"The broker refuses the message: {name}.")
    if isinstance(error, _TOPIC_FAULTS):
        return Failed(Fault.TOPIC, f"The broker refuses the topic: {name}.")
    return Failed(Fault.BROKER, f"The broker did not take it: {name}.")


def _why_silent() -> str:
    """What keeps a broker from answering, as far as it can be told from outside."""
    for server in settings.AIDE_KAFKA_SERVERS:
        host, _, port = server.rpartition("://")[2].rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
        except ConnectionResetError:
            return _MUTE
        except (OSError, ValueError):
            continue
        return _MUTE
    return "No broker can be reached at the addresses of AIDE_KAFKA_SERVERS."


def broker_answers() -> bool:
    """Whether any broker answers a question now; takes a few seconds at most."""
    try:
        admin = KafkaAdminClient(
            **connection_settings(),
            client_id="aide-probe",
            request_timeout_ms=2000,
            bootstrap_timeout_ms=2000,
        )
    except (kafka_errors.KafkaError, OSError, ValueError):
        return False
    try:
        admin.list_topics()
    except (kafka_errors.KafkaError, OSError):
        return False
    else:
        return True
    finally:
        admin.close()


def look(
    topics: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> tuple[dict[str, bool], dict[tuple[str, str], int]]:
    """Which topics are there, and by (group, topic) how many messages the group has not committed.

    Takes some seconds at most. Raises KafkaError.
    """
    admin = KafkaAdminClient(
        **connection_settings(), client_id="aide-probe", request_timeout_ms=3000, bootstrap_timeout_ms=3000
    )
    try:
        there = {
            each["name"]: each for each in admin.describe_topics(list(topics)) if not each.get("error_code")
        }
        up = {topic: topic in there for topic in topics}
        lag: dict[tuple[str, str], int] = {}
        for group, wanted in groups.items():
            done = admin.list_group_offsets({group: None}).get(group, {})
            for topic in wanted:
                if topic in there:
                    parts = [
                        TopicPartition(topic, each["partition_index"]) for each in there[topic]["partitions"]
                    ]
                    ends = admin.list_partition_offsets(dict.fromkeys(parts, OffsetSpec.LATEST))
                    begins = admin.list_partition_offsets(dict.fromkeys(parts, OffsetSpec.EARLIEST))
                    lag[group, topic] = sum(
                        max(0, ends[part].offset - _committed(done.get(part), begins[part].offset))
                        for part in parts
                    )
        return up, lag
    finally:
        admin.close()


def _committed(found: Any, beginning: int) -> int:
    offset = getattr(found, "offset", None)
    return beginning if offset is None or offset < 0 else max(offset, beginning)


class Consumer:
    """Reads topics from where the group stopped, at first from their beginning; commits only when told."""

    def __init__(self, topics: Sequence[str], *, group: str) -> None:
        self._consumer: Any = KafkaConsumer(
            **connection_settings(),
            client_id="aide-consumer",
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=10_000,
            heartbeat_interval_ms=3000,
            max_poll_records=2000,
            metrics_enabled=False,
        )
        self._consumer.subscribe(list(topics))

    def poll(self, *, seconds: float, most: int) -> list[Came]:
        """What came, in the order of each partition. Raises KafkaError."""
        found = self._consumer.poll(timeout_ms=int(seconds * 1000), max_records=most)
        return [
            Came(each.topic, each.partition, each.offset, each.timestamp or 0, each.value, dict(each.headers))
            for part in found.values()
            for each in part
        ]

    def commit(self) -> None:
        """Everything polled is done. After a rebalance another consumer reads it again, which does no harm."""
        try:
            self._consumer.commit()
        except (kafka_errors.CommitFailedError, kafka_errors.RebalanceInProgressError):
            logging.getLogger(__name__).info("the group was rebalanced before a commit")

    def close(self) -> None:
        """Leave the group without a commit."""
        self._consumer.close(autocommit=False)


KafkaError = kafka_errors.KafkaError
"""What reading may raise."""
