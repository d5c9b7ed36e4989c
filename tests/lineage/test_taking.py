"""OpenLineage events from Kafka: stored and merged once, ours left out, what is none kept with its reason."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from lineage.kafka import ORIGIN, origin
from lineage.models import Edge, LineageEvent, OutboxMessage, RefusedMessage
from tests.lineage.events import run_event


def produce(server, topic: str, messages: list[tuple[bytes, dict[str, bytes]]]) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=server.url, acks="all")
    try:
        for value, headers in messages:
            producer.send(topic, value=value, key=b"run:jobs/nightly", headers=list(headers.items())).get(
                timeout=30
            )
    finally:
        producer.close()


@pytest.mark.django_db(transaction=True)
def test_events_of_a_topic_are_stored_once(kafka_server, settings):
    kafka_server.bring_back()
    topic = kafka_server.create_database()
    settings.AIDE_KAFKA_SERVERS = [kafka_server.url]
    settings.AIDE_KAFKA_CONSUME_LINEAGE = [topic]
    event = json.dumps(run_event(reads=["a.b.c"], writes=["a.b.d"]), sort_keys=True).encode()
    ours = json.dumps(run_event(run=9)).encode()
    produce(
        kafka_server,
        topic,
        [(event, {}), (event, {}), (ours, {ORIGIN: origin().encode()}), (b"{", {}), (b"{}", {})],
    )
    told = StringIO()
    call_command("consume_lineage", until_end=2.0, group=f"test-{topic}", stdout=told)
    assert told.getvalue().strip() == "5 messages read, 1 our own, 2 refused."
    assert LineageEvent.objects.count() == 1
    assert Edge.objects.count() == 1
    assert not OutboxMessage.objects.exists()
    assert {row.reason.split()[0] for row in RefusedMessage.objects.all()} == {"The", "eventTime"}


def test_the_command_says_what_is_missing(db, settings):
    settings.AIDE_KAFKA_SERVERS = []
    with pytest.raises(CommandError, match="AIDE_KAFKA_SERVERS"):
        call_command("consume_lineage")
