"""What is told about topics and the outbox, without anybody waiting for a broker."""

from __future__ import annotations

import threading

import pytest
from kafka import KafkaProducer

from lineage import events, kafka, leases, topics
from lineage.models import OutboxMessage
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db,
    # kafka-python leaves the sockets of attempts that failed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _nothing_seen(monkeypatch):
    monkeypatch.setattr(topics, "_last", topics.Topics())


@pytest.fixture
def topic(kafka_server, settings):
    settings.AIDE_KAFKA_SERVERS = [kafka_server.url]
    settings.AIDE_KAFKA_METADATA_TOPIC = kafka_server.create_database()
    settings.AIDE_KAFKA_CONSUME_METADATA = [settings.AIDE_KAFKA_METADATA_TOPIC]
    yield settings.AIDE_KAFKA_METADATA_TOPIC
    kafka_server.bring_back()


def gauges(client):
    lines = client.get("/metrics").content.decode().split("\n")
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith(("aide_outbox", "aide_kafka")))


def test_topics_and_lag_are_seen(kafka_server, topic, settings):
    producer = KafkaProducer(bootstrap_servers=[kafka_server.url], api_version=kafka.API_VERSION)
    for _ in range(10):
        producer.send(topic, b"{}").get(10)
    producer.close()
    consumer = kafka.Consumer([topic], group=topics.METADATA_GROUP)
    wait_until(lambda: bool(consumer.poll(seconds=1, most=4)), timeout=30)
    consumer.commit()
    consumer.close()
    settings.AIDE_KAFKA_LINEAGE_TOPIC = "not-there"
    seen = topics.look_now()
    assert (seen.is_up, seen.up[topic], seen.up["not-there"]) == (True, True, False)
    assert seen.lag == {(topics.METADATA_GROUP, topic): 6}


def test_the_metrics_never_wait_for_a_broker(client, settings, monkeypatch):
    settings.AIDE_KAFKA_SERVERS = ["127.0.0.1:1"]
    answered = threading.Event()
    looked = topics.look_now

    def hang():
        answered.wait(30)
        return looked()

    monkeypatch.setattr(topics, "look_now", hang)
    found = gauges(client)
    assert found["aide_outbox_oldest_seconds"] == "0.0"
    assert "aide_kafka_up" not in found
    gauges(client)
    assert [thread.name for thread in threading.enumerate()].count("kafka-topics") == 1
    answered.set()
    wait_until(lambda: topics._last.seen_at > 0 and not topics._looking.is_set(), timeout=30)
    assert gauges(client)["aide_kafka_up"] == "0.0"


def test_a_broker_that_hangs_is_seen_as_away(kafka_server, topic):
    kafka_server.pause()
    seen = topics.look_now()
    assert (seen.is_up, seen.up[topic], seen.lag) == (False, False, {})


def test_the_outbox_is_counted(client):
    events.accept([{"resource": "r"}, {"resource": "s"}])
    first, _ = OutboxMessage.objects.order_by("pk")
    OutboxMessage.objects.filter(pk=first.pk).update(status="dead")
    OutboxMessage.objects.update(created_at="2026-01-01T00:00:00Z")
    leases.hold("relay", seconds=30)
    found = gauges(client)
    assert found['aide_outbox_messages{status="pending"}'] == "1.0"
    assert found['aide_outbox_messages{status="dead"}'] == "1.0"
    assert found["aide_outbox_relays"] == "1.0"
    assert float(found["aide_outbox_oldest_seconds"]) > 1e6
    check = client.get("/health/ready").json()["checks"]["outbox"]
    assert (check["status"], check["pending"], check["dead"]) == ("failing", 1, 1)
    assert check["oldest_pending_seconds"] > 1e6
