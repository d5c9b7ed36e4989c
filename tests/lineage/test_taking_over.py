"""Events from Kafka topics and from files: everything once, nothing lost, nothing that stops the reading."""

from __future__ import annotations

import gc
import io
import json
import threading
import warnings

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from kafka import KafkaProducer

from lineage import events, importing
from lineage.consuming import consume, id_of
from lineage.importing import take_lines, take_messages
from lineage.kafka import API_VERSION, EVENT_ID, Came
from lineage.models import Event, OutboxMessage, RefusedMessage
from lineage.relay import Relay
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # kafka-python leaves the sockets of attempts that failed to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# What a producer of the original sends when the caller gives a time: a pickled datetime.
PICKLED = {
    "resource": "old",
    "timestamp": {
        "py/object": "datetime.datetime",
        "__reduce__": [{"py/type": "datetime.datetime"}, ["B+gJBQoAAAPQkA=="]],
    },
    "additionalValues": {},
}


@pytest.fixture(autouse=True)
def _left_sockets():
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def topic(kafka_server, settings):
    settings.AIDE_KAFKA_SERVERS = [kafka_server.url]
    settings.AIDE_KAFKA_METADATA_TOPIC = kafka_server.create_database()
    settings.AIDE_KAFKA_CONSUME_METADATA = [settings.AIDE_KAFKA_METADATA_TOPIC]
    yield settings.AIDE_KAFKA_METADATA_TOPIC
    kafka_server.bring_back()


def produce(server, topic, *values, headers=()):
    producer = KafkaProducer(bootstrap_servers=[server.url], api_version=API_VERSION, metrics_enabled=False)
    try:
        for value in values:
            raw = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
            producer.send(topic, raw, key=b"k", headers=list(headers)).get(10)
    finally:
        producer.close()


def read(topic, group="g"):
    call_command("consume_metadata", "--group", group, "--until-end", "3", stdout=io.StringIO())


def test_a_topic_is_read_from_its_beginning_and_reading_again_brings_nothing_twice(kafka_server, topic):
    produce(kafka_server, topic, PICKLED, {"resource": "new", "event_id": "e1", "timestamp": 5.5})
    produce(kafka_server, topic, {"resource": "headed"}, headers=[(EVENT_ID, b"from the header")])
    read(topic)
    assert set(Event.objects.values_list("resource", flat=True)) == {"old", "new", "headed"}
    assert Event.objects.get(resource="old").happened_at.isoformat() == "2024-09-05T10:00:00.250000+00:00"
    assert Event.objects.get(resource="headed").event_id == "from the header"
    assert OutboxMessage.objects.count() == 3
    read(topic, group="another")
    assert Event.objects.count() == OutboxMessage.objects.count() == 3


def test_poison_is_kept_with_its_reason_and_does_not_stop_the_reading(kafka_server, topic):
    produce(kafka_server, topic, b"{", b"\xff\x00", None, [1], {"timestamp": "soon"}, {"resource": "good"})
    read(topic)
    assert Event.objects.get().resource == "good"
    kept = RefusedMessage.objects.order_by("offset")
    assert [each.offset for each in kept] == [0, 1, 2, 3, 4]
    assert "not JSON" in kept[0].reason
    assert kept[1].body == "\\xff\\x00"
    assert kept[4].reason.startswith("timestamp: ")
    read(topic, group="another")
    assert RefusedMessage.objects.count() == 5


def test_our_own_messages_are_skipped(kafka_server, topic):
    events.accept([{"resource": "mine"}])
    relay = Relay("r")
    wait_until(lambda: relay.turn() > 0, timeout=20)
    relay.finish()
    Event.objects.all().delete()
    produce(kafka_server, topic, {"resource": "theirs"})
    read(topic)
    assert Event.objects.get().resource == "theirs"


def test_what_was_not_stored_is_read_again(kafka_server, topic):
    produce(kafka_server, topic, *({"resource": f"r{n}"} for n in range(5)))
    failures = [DatabaseError("away"), DatabaseError("away")]

    def handle(came):
        if failures:
            raise failures.pop()
        return take_messages(came)

    counts = consume([topic], group="g", handle=handle, stop=threading.Event(), until_end=3)
    assert Event.objects.count() == 5
    assert (counts.read, counts.refused) == (5, 0)


class Noted(threading.Event):
    """Notes how long it was to be waited, and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return self.is_set()


def test_waiting_begins_anew_once_something_was_stored(kafka_server, topic):
    produce(kafka_server, topic, {"resource": "first"})
    stop, failing = Noted(), [True, True, False, True, False]

    def handle(came):
        if failing.pop(0):
            raise DatabaseError("away")
        if failing:
            produce(kafka_server, topic, {"resource": "second"})
        return take_messages(came)

    consume([topic], group="g", handle=handle, stop=stop, until_end=3)
    assert Event.objects.count() == 2
    assert stop.waits == [1.0, 2.0, 1.0]


def test_a_broker_that_dies_is_waited_for(kafka_server, topic):
    produce(kafka_server, topic, {"resource": "before"})
    stop = threading.Event()

    def work():
        try:
            consume([topic], group="g", handle=take_messages, stop=stop)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        wait_until(lambda: Event.objects.count() == 1, timeout=30)
        kafka_server.stop()
        kafka_server.start()
        produce(kafka_server, topic, {"resource": "after"})
        wait_until(lambda: Event.objects.count() == 2, timeout=60)
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def test_the_command_says_what_is_missing(settings):
    settings.AIDE_KAFKA_SERVERS = []
    with pytest.raises(CommandError, match="AIDE_KAFKA_SERVERS"):
        call_command("consume_metadata")
    settings.AIDE_KAFKA_SERVERS = ["127.0.0.1:1"]
    settings.AIDE_KAFKA_CONSUME_METADATA = []
    with pytest.raises(CommandError, match="AIDE_KAFKA_CONSUME_METADATA"):
        call_command("consume_metadata")


def test_an_id_by_place_tells_a_topic_that_was_made_anew():
    first, second = (Came("t", 0, 7, stamp, b"{}", {}) for stamp in (1000, 2000))
    assert id_of(first) == id_of(Came("t", 0, 7, 1000, b"{}", {}))
    assert id_of(first) != id_of(second)


# Files

ORIGINAL_LOG = b"""INFO:LoggingMetadataAPIService:Metadata:
Subject: load
Resource: orders
Action: DATA_READ
Timestamp: 09/05/2024 10:00:00
Additional Properties:
\trows: 12
\tsource: s3://b/x: y
2024-09-05 10:00:01 something else
2024-09-05 10:00:02 INFO Metadata:
\tSubject: load
\tResource: orders
\tAction: DATA_READ
\tTimestamp: 2024-09-05T10:00:02+00:00
"""


def test_a_log_of_the_logging_service_is_taken_over_once():
    taken = take_lines(io.BytesIO(ORIGINAL_LOG))
    assert (taken.stored, taken.skipped, taken.refused) == (2, 1, 0)
    first, second = Event.objects.order_by("happened_at")
    assert (first.subject, first.resource, first.action) == ("load", "orders", "DATA_READ")
    assert first.additional_values == {"rows": "12", "source": "s3://b/x: y"}
    assert first.happened_at.isoformat() == "2024-09-05T10:00:00+00:00"
    assert second.additional_values == {}
    again = take_lines(io.BytesIO(ORIGINAL_LOG + ORIGINAL_LOG[-170:]))
    assert again.duplicate >= 2
    assert again.refused == 0


def test_the_texts_of_our_own_logging_service_are_read(caplog):
    from aissemble_core_metadata.logging_metadata_api_service import LoggingMetadataAPIService
    from aissemble_core_metadata.metadata_model import MetadataModel

    with caplog.at_level("INFO"):
        LoggingMetadataAPIService().create_metadata(
            MetadataModel(
                resource="r", subject="s", action="A", timestamp=1700000000.25, additionalValues={"k": "v"}
            )
        )
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert take_lines(io.BytesIO(text.encode())).stored == 1
    row = Event.objects.get()
    assert (row.resource, row.additional_values, row.happened_at.timestamp()) == (
        "r",
        {"k": "v"},
        1700000000.25,
    )


def test_json_lines_arrays_and_lines_with_a_prefix_are_read(tmp_path):
    lines = [
        json.dumps({"resource": "plain", "event_id": "e1"}),
        json.dumps([{"resource": "a1"}, {"resource": "a2"}]),
        "2024-09-05 INFO sent " + json.dumps({"resource": "prefixed"}),
        "a line of a log {with braces}",
        "",
        "{broken",
        json.dumps({"resource": 5}),
        json.dumps(
            {
                "kind": "metadata",
                "event_id": "e9",
                "payload": json.dumps({"resource": "own", "event_id": "e9"}),
            }
        ),
    ]
    file = tmp_path / "events.log"
    file.write_text("\n".join(lines))
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="2 events were refused"):
        call_command("import_events", str(file), stdout=out, stderr=err)
    assert out.getvalue().startswith("5 stored, 0 known already, 2 refused, 1 lines")
    assert [line.split(":")[0] for line in err.getvalue().split("\n") if line] == ["line 6", "line 7"]
    assert set(Event.objects.values_list("resource", flat=True)) == {"plain", "a1", "a2", "prefixed", "own"}
    assert Event.objects.get(resource="own").event_id == "e9"


def test_equal_lines_are_events_of_their_own_and_a_longer_file_brings_only_what_is_new(monkeypatch):
    monkeypatch.setattr(importing, "AT_ONCE", 3)
    line = json.dumps({"resource": "r", "timestamp": 1}).encode() + b"\n"
    assert take_lines(io.BytesIO(line * 7)).stored == 7
    taken = take_lines(io.BytesIO(line * 9))
    assert (taken.stored, taken.duplicate) == (2, 7)


def test_a_file_that_is_not_there_is_said_plainly(tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_events", str(tmp_path / "nothing"))
