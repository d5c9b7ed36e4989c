"""Messages that Apache Kafka refuses and brokers that are none: a plain reason, nobody else held up, order kept."""

from __future__ import annotations

import contextlib
import gc
import socket
import struct
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from structlog.testing import capture_logs

from lineage import outbox
from lineage.models import OutboxMessage
from lineage.outbox import Kind, Message
from lineage.relay import Pace, Relay
from tests.chaos.forwarding import Arrived
from tests.factories import make_user
from tests.servers import ApacheKafkaServer
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.django_db(transaction=True),
    # kafka-python leaves the sockets of attempts that failed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MUTE = "takes connections, but does not answer"
QUICK = Pace(deadline=4.0, longest_pause=0.2)


@pytest.fixture(autouse=True)
def _left_sockets() -> Iterator[None]:
    """They are collected before another module would be blamed for them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def broker(apachekafka_server: ApacheKafkaServer, settings: Any) -> ApacheKafkaServer:
    settings.AIDE_KAFKA_SERVERS = [apachekafka_server.url]
    settings.AIDE_KAFKA_METADATA_TOPIC = apachekafka_server.create_database()
    return apachekafka_server


@pytest.fixture
def relay() -> Iterator[Relay]:
    made = Relay("relay", pace=QUICK)
    yield made
    made.finish()


def put(*messages: tuple[str, str, str]) -> None:
    """Key, event id, payload of each."""
    with transaction.atomic():
        outbox.put([Message(Kind.METADATA.value, *each) for each in messages])


def rows(**wanted: Any) -> Any:
    return OutboxMessage.objects.filter(**wanted)


def turn_until(relay: Relay, condition: Any, *, timeout: float = 60.0) -> None:
    """Waiting times of single messages are cut short; those of a broker that is away are not."""

    def is_so() -> bool:
        rows(status="pending", next_try_at__isnull=False).update(next_try_at=None)
        relay.turn()
        return bool(condition())

    wait_until(is_so, timeout=timeout)


def settled() -> bool:
    return not rows(status="pending").exists()


def test_small_limits_of_a_topic_change_no_order(
    broker: ApacheKafkaServer, relay: Relay, settings: Any
) -> None:
    """What is gathered for one request is larger than the topic allows, though no message is."""
    settings.AIDE_KAFKA_METADATA_TOPIC = topic = broker.create_database(max_message_bytes="20000")
    put(*((f"k{n % 3}", f"e{n:04}", "x" * 1500) for n in range(400)))
    turn_until(relay, settled)
    assert rows(status="dead").count() == 0
    arrived = Arrived(broker, topic)
    assert len(arrived.ids) == 400
    assert arrived.disorder() == []


def test_a_message_larger_than_its_topic_allows_dies_alone(
    broker: ApacheKafkaServer, relay: Relay, settings: Any
) -> None:
    settings.AIDE_KAFKA_METADATA_TOPIC = topic = broker.create_database(
        max_message_bytes="20000", partitions="1"
    )
    names = [f"e{n:04}" for n in range(300)]
    put(
        *((f"k{n % 3}", name, "y" * (30_000 if n == 150 else 200)) for n, name in enumerate(names)),
    )
    turn_until(relay, settled)
    dead = rows(status="dead").get()
    assert (dead.event_id, dead.attempts) == ("e0150", 3)
    assert "too large" in dead.last_error or "TooLarge" in dead.last_error
    arrived = Arrived(broker, topic)
    assert arrived.ids == {*names} - {"e0150"}
    assert arrived.disorder() == []


def test_a_message_without_a_key_in_a_compacted_topic_dies_alone(
    broker: ApacheKafkaServer, relay: Relay, settings: Any
) -> None:
    settings.AIDE_KAFKA_METADATA_TOPIC = topic = broker.create_database(
        cleanup_policy="compact", partitions="1"
    )
    names = [f"e{n:04}" for n in range(600)]
    put(*(("" if n == 100 else f"k{n % 3}", name, "z" * 900) for n, name in enumerate(names)))
    turn_until(relay, settled)
    dead = rows(status="dead").get()
    assert dead.event_id == "e0100"
    assert "refuses the message" in dead.last_error
    arrived = Arrived(broker, topic)
    assert arrived.ids == {*names} - {"e0100"}
    assert arrived.disorder() == []


def test_a_topic_that_is_not_there_waits_dies_and_is_replayed(
    broker: ApacheKafkaServer, relay: Relay, settings: Any
) -> None:
    good = settings.AIDE_KAFKA_METADATA_TOPIC
    settings.AIDE_KAFKA_METADATA_TOPIC = "nobody-made-it"
    put(*((f"k{n}", f"lost{n}", "{}") for n in range(5)))
    settings.AIDE_KAFKA_METADATA_TOPIC = good
    put(*((f"k{n}", f"good{n}", "{}") for n in range(5)))
    wait_until(lambda: relay.turn() >= 0 and rows(status="delivered").count() == 5, timeout=30)
    assert rows(topic="nobody-made-it", status="pending", attempts__gte=1).count() == 5
    turn_until(relay, settled, timeout=120)
    dead = rows(status="dead")
    assert {each.attempts for each in dead} == {8}
    assert {each.last_error for each in dead} == {"The broker does not know the topic nobody-made-it."}
    broker.create_database("nobody-made-it")
    ids = list(dead.order_by("pk").values_list("pk", flat=True))
    assert outbox.replay(ids, by=make_user("engineer"))["count"] == 5
    turn_until(relay, settled)
    assert rows(status="delivered").count() == 10
    assert Arrived(broker, "nobody-made-it").ids == {f"lost{n}" for n in range(5)}


class NoBroker:
    """Takes connections on a port and then says nothing, or cuts them."""

    def __init__(self, *, cut: bool) -> None:
        self._cut = cut
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._taken: list[socket.socket] = []
        self.url = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:  # closed
                return
            self._taken.append(line)
            if self._cut:
                with contextlib.suppress(OSError):  # the other side was faster
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                line.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for line in self._taken:
            line.close()
        self._thread.join(5)


def waits_for_the_broker(relay: Relay, *, reason: str) -> None:
    put(*((f"k{n}", f"e{n}", "{}") for n in range(50)))
    began = time.monotonic()
    with capture_logs() as told:
        assert relay.turn() == 0
    assert time.monotonic() - began < 20
    assert reason in next(each["reason"] for each in told if each["event"] == "relay.broker_away")
    assert relay.is_paused
    assert set(rows().values_list("status", "attempts")) == {("pending", 0)}
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "Sender"]


@pytest.mark.parametrize("cut", [False, True], ids=["silent", "resetting"])
def test_messages_wait_for_a_broker_that_takes_connections_and_no_more(
    broker: ApacheKafkaServer, settings: Any, cut: bool
) -> None:
    fake = NoBroker(cut=cut)
    settings.AIDE_KAFKA_SERVERS = [fake.url]
    relay = Relay("relay", pace=QUICK)
    try:
        waits_for_the_broker(relay, reason=MUTE)
        settings.AIDE_KAFKA_SERVERS = [broker.url]
        turn_until(relay, settled)
    finally:
        relay.finish()
        fake.close()
    assert Arrived(broker, settings.AIDE_KAFKA_METADATA_TOPIC).ids == {f"e{n}" for n in range(50)}


LOGIN = {
    "AIDE_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "AIDE_KAFKA_SASL_MECHANISM": "PLAIN",
    "AIDE_KAFKA_SASL_USERNAME": "aide",
    "AIDE_KAFKA_SASL_PASSWORD": ApacheKafkaServer.guarded_password,
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "tls": ({"AIDE_KAFKA_SECURITY_PROTOCOL": "SSL"}, MUTE),
    "no log-in": ({"AIDE_KAFKA_SECURITY_PROTOCOL": "PLAINTEXT"}, MUTE),
    "password": ({"AIDE_KAFKA_SASL_PASSWORD": "a secret word"}, MUTE),
    "mechanism": ({"AIDE_KAFKA_SASL_MECHANISM": "SCRAM-SHA-256"}, MUTE),
    "no certificate": (
        {"AIDE_KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "AIDE_KAFKA_SSL_CAFILE": "/nowhere/ca.pem"},
        "No such file",
    ),
    "no such host": ({"AIDE_KAFKA_SERVERS": ["nowhere.invalid:9092"]}, "No broker can be reached"),
    "no address": ({"AIDE_KAFKA_SERVERS": ["127.0.0.1:nine"]}, "settings of Kafka"),
}


@pytest.mark.parametrize(("wrong", "reason"), list(WRONG.values()), ids=list(WRONG))
def test_messages_wait_while_settings_of_the_broker_are_wrong(
    broker: ApacheKafkaServer,
    settings: Any,
    wrong: dict[str, Any],
    reason: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if not broker.is_ours:
        pytest.skip("the broker's log-in is not ours")
    right = LOGIN | {"AIDE_KAFKA_SERVERS": [f"127.0.0.1:{broker.guarded_port}"], "AIDE_KAFKA_SSL_CAFILE": ""}
    for name, value in (right | wrong).items():
        setattr(settings, name, value)
    relay = Relay("relay", pace=QUICK)
    try:
        waits_for_the_broker(relay, reason=reason)
        for name, value in right.items():
            setattr(settings, name, value)
        turn_until(relay, settled)
    finally:
        relay.finish()
    assert "a secret word" not in "".join(capfd.readouterr())
    assert Arrived(broker, settings.AIDE_KAFKA_METADATA_TOPIC).ids == {f"e{n}" for n in range(50)}
