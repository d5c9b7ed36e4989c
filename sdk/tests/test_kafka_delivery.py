"""Delivery to Kafka through faults: nothing lost, order kept per resource, nobody held up, everything told."""

from __future__ import annotations

import gc
import logging
import time
import warnings
from collections.abc import Iterator

import pytest
from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.kafka_delivery import Limits, MetadataNotAcceptedError
from aissemble_core_metadata.messaging_config import MessagingConfig
from aissemble_core_metadata.metadata_model import MetadataModel

from sdk.tests.topics import event_ids, events, read_topic
from tests.servers import KafkaServer

# kafka-python leaves the sockets of attempts that failed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
QUICK = Limits(deadline=3.0, exit=2.0, pause=0.05, longest_pause=0.2)


@pytest.fixture(autouse=True)
def _left_sockets() -> Iterator[None]:
    """They are collected before another module would be blamed for them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def services() -> Iterator[list[HiveMetadataAPIService]]:
    made: list[HiveMetadataAPIService] = []
    yield made
    for service in made:
        service.close(0)


def open_service(
    made: list[HiveMetadataAPIService], servers: str, topic: str, limits: Limits = QUICK
) -> HiveMetadataAPIService:
    config = MessagingConfig({"AIDE_KAFKA_SERVERS": servers, "AIDE_KAFKA_METADATA_TOPIC": topic})
    made.append(HiveMetadataAPIService(config=config, limits=limits))
    return made[-1]


def event(number: int, resource: str = "r") -> MetadataModel:
    return MetadataModel(resource=resource, action=str(number))


def test_flush_waits_for_the_acknowledgements(
    kafka_server: KafkaServer, services: list[HiveMetadataAPIService]
) -> None:
    topic = kafka_server.create_database()
    service = open_service(services, f"127.0.0.1:1,{kafka_server.url}", topic)  # one of the list is enough
    for number in range(1000):
        service.create_metadata(event(number, f"r{number % 7}"))
    report = service.flush(60)
    assert (report.delivered, report.undelivered) == (1000, ())
    messages = read_topic(kafka_server.url, topic, count=1000)
    assert len(set(event_ids(messages))) == len(messages) == 1000
    for resource in range(7):
        actions = [int(each["action"]) for each in events(messages) if each["resource"] == f"r{resource}"]
        assert actions == sorted(actions)
    assert all(
        message.key == each["resource"].encode()
        for message, each in zip(messages, events(messages), strict=True)
    )


@pytest.mark.parametrize("fault", ["stop", "pause"])
def test_what_was_taken_while_the_broker_was_away_arrives_in_order(
    fault: str, kafka_server: KafkaServer, services: list[HiveMetadataAPIService]
) -> None:
    if not kafka_server.is_ours:
        pytest.skip("the server is not ours to stop")
    topic = kafka_server.create_database()
    service = open_service(services, kafka_server.url, topic)
    service.create_metadata(event(0))
    assert service.flush(30).is_complete
    getattr(kafka_server, fault)()
    for number in range(1, 51):
        service.create_metadata(event(number))
    report = service.flush(4)
    assert len(report.undelivered) == 50
    assert report.reason
    kafka_server.bring_back()
    assert service.flush(60).is_complete
    seen: dict[str, str] = {}
    messages = read_topic(kafka_server.url, topic, count=51)
    for event_id, each in zip(event_ids(messages), events(messages), strict=True):
        seen.setdefault(event_id, each["action"])
    assert list(seen.values()) == [str(number) for number in range(51)]


def test_a_full_buffer_is_told_and_holds_nobody_up(
    unused_address: str, services: list[HiveMetadataAPIService], caplog: pytest.LogCaptureFixture
) -> None:
    service = open_service(services, unused_address, "t", Limits(buffer=100, exit=1.0))
    for number in range(100):
        service.create_metadata(event(number))
    with pytest.raises(MetadataNotAcceptedError, match="100 events wait"):
        service.create_metadata(event(100))
    with caplog.at_level(logging.ERROR):
        report = service.flush(0.5)
    assert [message.label for message in report.undelivered] == ["r"] * 100
    assert report.delivered == 0
    assert "100 of 100 events were not delivered to Kafka" in caplog.text


def test_a_message_that_no_broker_takes_does_not_stop_the_others(
    kafka_server: KafkaServer, services: list[HiveMetadataAPIService]
) -> None:
    topic = kafka_server.create_database()
    service = open_service(services, kafka_server.url, topic)
    service.create_metadata(event(1))
    service.create_metadata(MetadataModel(resource="huge", additionalValues={"x": "x" * 2_000_000}))
    service.create_metadata(event(2))
    report = service.flush(60)
    assert [message.label for message in report.undelivered] == ["huge"]
    assert report.delivered == 2
    actions = [each["action"] for each in events(read_topic(kafka_server.url, topic, count=2))]
    assert list(dict.fromkeys(actions)) == ["1", "2"]


def test_without_a_server_to_search_the_service_says_so(
    services: list[HiveMetadataAPIService],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AIDE_METASTORE_URL", raising=False)
    service = open_service(services, "127.0.0.1:1", "t")
    assert service.get_metadata({"resource": "r"}) == []
    assert "set AIDE_METASTORE_URL" in caplog.text
    service.create_metadata(None)  # type: ignore[arg-type]
    assert "no metadata to send" in caplog.text
    assert service.flush(0).is_complete


def test_closing_takes_no_longer_than_told(
    unused_address: str, services: list[HiveMetadataAPIService]
) -> None:
    service = open_service(services, unused_address, "t")
    service.create_metadata(event(1))
    began = time.monotonic()
    assert len(service.close(0.1).undelivered) == 1
    assert time.monotonic() - began < 30  # a bound of termination, not of speed
