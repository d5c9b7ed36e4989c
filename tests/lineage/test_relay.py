"""The relay and a real broker: order, acknowledgement, dead letters, brokers that hang or die, several relays."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import defaultdict
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from kafka import KafkaConsumer, TopicPartition

from lineage import events, outbox
from lineage.kafka import API_VERSION, EVENT_ID, KIND, ORIGIN, Failed, Fault, Sent, origin
from lineage.models import OutboxMessage, OutboxShard
from lineage.outbox import Kind, Message, shard_of
from lineage.relay import KafkaSink, LogSink, Pace, Relay
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # kafka-python leaves the sockets of attempts that failed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
QUICK = Pace(deadline=3.0, longest_pause=0.2)


@pytest.fixture(autouse=True)
def _left_sockets():
    """They are collected before another module would be blamed for them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def topic(kafka_server, settings):
    settings.AIDE_KAFKA_SERVERS = [kafka_server.url]
    settings.AIDE_KAFKA_METADATA_TOPIC = kafka_server.create_database()
    yield settings.AIDE_KAFKA_METADATA_TOPIC
    kafka_server.bring_back()


@pytest.fixture
def relay():
    made = Relay("relay one", pace=QUICK)
    yield made
    made.finish()


def record(count, *, keys=5, prefix="e"):
    body = [{"resource": f"k{n % keys}", "event_id": f"{prefix}{n:06}"} for n in range(count)]
    assert {answer.status for answer in events.accept(body)} == {"stored"}


def read_all(server, topic):
    """Every message of a topic, in the order of each partition."""
    consumer = KafkaConsumer(
        bootstrap_servers=[server.url],
        api_version=API_VERSION,
        enable_auto_commit=False,
        metrics_enabled=False,
    )
    try:
        parts = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic) or ())]
        consumer.assign(parts)
        ends = consumer.end_offsets(parts)
        consumer.seek_to_beginning(*parts)
        found, deadline = [], time.monotonic() + 20
        while any(consumer.position(part) < ends[part] for part in parts) and time.monotonic() < deadline:
            for records in consumer.poll(500).values():
                found += records
        return found
    finally:
        consumer.close()


def ids_of(messages):
    return [dict(each.headers)[EVENT_ID].decode() for each in messages]


def order_by_key(messages):
    """Event ids of each key, repetitions left out."""
    found, seen = defaultdict(list), set()
    for each in messages:
        name = dict(each.headers)[EVENT_ID].decode()
        if name not in seen:
            seen.add(name)
            found[each.key.decode()].append(name)
    return found


def statuses():
    return sorted(OutboxMessage.objects.values_list("status", flat=True))


def test_messages_arrive_in_the_order_of_their_key_with_their_headers(kafka_server, topic, relay):
    record(60)
    while relay.turn():
        pass
    came = read_all(kafka_server, topic)
    assert order_by_key(came) == {f"k{k}": [f"e{n:06}" for n in range(k, 60, 5)] for k in range(5)}
    first = came[0]
    assert dict(first.headers)[ORIGIN].decode() == origin()
    assert dict(first.headers)[KIND] == b"metadata"
    assert json.loads(first.value)["resource"] == first.key.decode()
    row = OutboxMessage.objects.get(event_id=ids_of(came)[0])
    assert (row.status, row.sink, row.attempts, row.offset) == ("delivered", "kafka", 1, first.offset)
    assert row.delivered_at is not None
    assert row.last_error == ""


def test_without_a_broker_messages_are_delivered_to_the_log(settings):
    settings.AIDE_KAFKA_SERVERS = []
    record(3)
    call_command("forward_events", "--once")
    assert set(OutboxMessage.objects.values_list("status", "sink")) == {("delivered", "log")}


def test_a_broker_that_is_down_costs_messages_nothing(kafka_server, topic, relay):
    record(4)
    kafka_server.stop()
    started = time.monotonic()
    assert relay.turn() == 0
    assert time.monotonic() - started < 15
    assert relay.is_paused
    assert set(OutboxMessage.objects.values_list("status", "attempts")) == {("pending", 0)}
    kafka_server.start()
    wait_until(lambda: bool(relay.turn()) or statuses() == ["delivered"] * 4, timeout=15)
    assert sorted(set(ids_of(read_all(kafka_server, topic)))) == [f"e{n:06}" for n in range(4)]


def test_a_broker_that_hangs_is_given_up_in_time_and_used_again(kafka_server, topic, relay):
    record(2, prefix="before")
    relay.turn()
    kafka_server.pause()
    record(20, prefix="during")
    started = time.monotonic()
    relay.turn()
    assert time.monotonic() - started < QUICK.deadline + 8
    assert relay.is_paused
    assert OutboxMessage.objects.filter(status="pending").count() == 20
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "Sender"]
    kafka_server.resume()
    wait_until(lambda: relay.turn() >= 0 and "pending" not in statuses(), timeout=30)
    order = order_by_key(read_all(kafka_server, topic))
    assert order["k0"] == ["before000000", *(f"during{n:06}" for n in range(0, 20, 5))]


def test_a_message_that_is_too_large_dies_with_its_reason_and_holds_up_nobody(kafka_server, topic, relay):
    with transaction.atomic():
        outbox.put(
            [
                Message(Kind.METADATA.value, "poisoned", "big", "x" * 3_000_000),
                Message(Kind.METADATA.value, "poisoned", "after", "{}"),
                *(Message(Kind.METADATA.value, f"k{n}", f"other{n}", "{}") for n in range(10)),
            ]
        )

    def rest_is_there():
        relay.turn()
        return OutboxMessage.objects.filter(status="delivered").count() == 11

    wait_until(
        lambda: (
            relay.turn() >= 0
            and OutboxMessage.objects.filter(key__startswith="k", status="pending").count() == 0
        )
    )
    assert OutboxMessage.objects.get(event_id="after").status == "pending"
    wait_until(rest_is_there, timeout=30)
    dead = OutboxMessage.objects.get(event_id="big")
    assert (dead.status, dead.attempts) == ("dead", 3)
    assert "TooLarge" in dead.last_error
    assert set(ids_of(read_all(kafka_server, topic))) == {"after", *(f"other{n}" for n in range(10))}


def test_a_topic_that_cannot_be_waits_and_then_dies(kafka_server, topic, settings, relay):
    settings.AIDE_KAFKA_METADATA_TOPIC = "no topic has blanks"
    record(1)
    settings.AIDE_KAFKA_METADATA_TOPIC = topic
    record(3, prefix="good")
    relay.turn()
    bad = OutboxMessage.objects.get(event_id="e000000")
    assert (bad.status, bad.attempts) == ("pending", 1)
    assert bad.next_try_at is not None
    for _ in range(7):
        OutboxMessage.objects.filter(pk=bad.pk).update(next_try_at=None)
        relay.turn()
    bad.refresh_from_db()
    assert (bad.status, bad.attempts) == ("dead", 8)
    assert "illegal" in bad.last_error
    assert OutboxMessage.objects.filter(status="delivered").count() == 3


class Scripted:
    """A sink that fails as it is told: event id to fault."""

    name = "script"

    def __init__(self, **faults):
        self.faults = faults
        self.sent = []

    def send(self, messages, *, within):
        results = []
        for each in messages:
            fault = self.faults.get(each.event_id)
            if fault is None:
                self.sent.append(each.event_id)
            results.append(Failed(fault, "told to") if fault else Sent(0, 1))
        return results

    def close(self):
        pass


def test_later_messages_of_a_key_wait_for_the_one_that_failed():
    sink = Scripted(a1=Fault.MESSAGE)
    relay = Relay("r", sink=sink)
    with transaction.atomic():
        outbox.put([Message(Kind.METADATA.value, key, f"{key}{n}", "{}") for n in range(3) for key in "ab"])
    relay.turn()
    assert "a1" not in sink.sent
    with transaction.atomic():
        outbox.put(
            [Message(Kind.METADATA.value, "a", "a3", "{}"), Message(Kind.METADATA.value, "b", "b3", "{}")]
        )
    relay.turn()
    assert "a3" not in sink.sent
    assert "b3" in sink.sent
    OutboxMessage.objects.filter(event_id="a1").update(next_try_at=None)
    sink.faults.clear()
    relay.turn()
    assert [name for name in sink.sent if name in {"a1", "a3"}] == ["a1", "a3"]


def test_a_broker_fault_changes_no_row():
    relay = Relay("r", sink=Scripted(a=Fault.BROKER), pace=QUICK)
    with transaction.atomic():
        outbox.put([Message(Kind.METADATA.value, "a", "a", "{}")])
    for _ in range(12):
        relay._paused_until = 0
        relay.turn()
    assert OutboxMessage.objects.values_list("status", "attempts").get() == ("pending", 0)


@pytest.mark.parametrize(
    "wrong",
    [{"AIDE_KAFKA_SERVERS": ["127.0.0.1:nine"]}, {"AIDE_KAFKA_SASL_MECHANISM": "WISHING"}],
    ids=["address", "mechanism"],
)
def test_no_message_dies_of_settings_that_cannot_be(settings, wrong):
    settings.AIDE_KAFKA_SERVERS = ["127.0.0.1:1"]
    settings.AIDE_KAFKA_SECURITY_PROTOCOL = "SASL_PLAINTEXT"
    for name, value in wrong.items():
        setattr(settings, name, value)
    record(3)
    relay = Relay("r")
    assert relay.turn() == 0
    assert relay.is_paused
    relay.finish()
    assert set(OutboxMessage.objects.values_list("status", "attempts")) == {("pending", 0)}


def test_a_window_is_bounded_and_shares_take_turns():
    sink = Scripted()
    relay = Relay("r", sink=sink, pace=Pace(window=10))
    record(100, keys=1)
    record(5, keys=5, prefix="other")
    assert relay.turn() == 10
    turns = 1
    while OutboxMessage.objects.filter(event_id__startswith="other", status="pending").exists():
        relay.turn()
        turns += 1
        assert turns < 40


def test_one_statement_finds_what_is_due_and_one_marks_it_delivered(django_assert_max_num_queries):
    relay = Relay("r", sink=LogSink())
    record(200)
    relay.turn()
    record(200, prefix="more")
    limit = 2 if connection.vendor == "postgresql" else 3
    with django_assert_max_num_queries(limit):
        assert relay.turn() == 200


def test_two_relays_at_once_lose_nothing_and_keep_the_order(kafka_server, topic):
    stop = threading.Event()
    relays = [Relay(f"relay {n}", pace=Pace(window=50, idle=0.05, lease=3.0)) for n in range(2)]

    def work(relay):
        try:
            relay.run(stop)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(relay,)) for relay in relays]
    for thread in threads:
        thread.start()
    try:
        for n in range(6):
            record(50, keys=30, prefix=f"{n}-")
        wait_until(lambda: not OutboxMessage.objects.filter(status="pending").exists(), timeout=40)
        wait_until(lambda: outbox.relays_alive() == 2, timeout=20)
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    order = order_by_key(read_all(kafka_server, topic))
    assert sum(map(len, order.values())) == 300
    assert all(found == sorted(found) for found in order.values())


@pytest.mark.slow
def test_a_relay_that_is_killed_is_replaced_and_nothing_is_lost(kafka_server, topic, settings, tmp_path):
    record(300, keys=20)
    database = settings.DATABASES["default"]
    if connection.vendor == "postgresql":
        where = connection.settings_dict
        url = f"postgresql://{where['USER']}@{where['HOST']}:{where['PORT']}/{where['NAME']}"
    else:
        url = f"sqlite:///{connection.settings_dict['NAME']}"
    environment = {
        **os.environ,
        "AIDE_DEBUG": "1",
        "AIDE_DATABASE_URL": url,
        "AIDE_KAFKA_SERVERS": kafka_server.url,
    }
    assert database
    command = [sys.executable, "manage.py", "forward_events"]
    killed = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: OutboxMessage.objects.filter(status="delivered").exists(), timeout=60)
        record(300, keys=20, prefix="late")
    finally:
        killed.kill()
        killed.wait(10)
    OutboxShard.objects.update(lease_until="2020-01-01T00:00:00Z")  # so that the test need not wait for it
    other = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: not OutboxMessage.objects.filter(status="pending").exists(), timeout=60)
        other.send_signal(signal.SIGTERM)
        assert other.wait(20) == 0
    finally:
        other.kill()
        other.wait(10)
    assert outbox.relays_alive() == 0
    order = order_by_key(read_all(kafka_server, topic))
    assert {key: len(found) for key, found in order.items()} == {f"k{n}": 30 for n in range(20)}
    for found in order.values():
        assert found == sorted(found, key=lambda name: (name.startswith("late"), name))


def test_forwarding_once_tells_when_the_broker_is_away(kafka_server, topic):
    record(1)
    kafka_server.stop()
    with pytest.raises(CommandError, match="away"):
        call_command("forward_events", "--once")
    kafka_server.start()
    call_command("forward_events", "--once")
    assert statuses() == ["delivered"]
    assert outbox.relays_alive() == 0


def test_a_replayed_message_is_sent_again(kafka_server, topic, relay):
    from tests.factories import make_user

    record(1)
    relay.turn()
    message = OutboxMessage.objects.get()
    answer = outbox.replay([message.pk], by=make_user("engineer"))
    assert answer == {"replayed": [message.pk], "skipped": [], "count": 1}
    while not relay.turn():
        pass
    assert ids_of(read_all(kafka_server, topic)) == ["e000000", "e000000"]


def test_a_sink_for_kafka_is_used_where_there_is_a_broker(kafka_server, topic):
    relay = Relay("r")
    assert isinstance(relay.sink, KafkaSink)
    relay.finish()
    assert shard_of("k") == shard_of("k") < outbox.SHARDS
