"""Programs written for aiSSEMBLE's published names run unchanged, against a broker, and lose nothing at their end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdk.tests.topics import event_ids, events, read_topic
from tests.servers import KafkaServer

PROGRAMS = Path(__file__).with_name("programs")


def run_program(name: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AIDE_", "ENVIRONMENT"))}
    done = subprocess.run(
        [sys.executable, PROGRAMS / name],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("program", "actions"),
    [
        ("basic.py", ["DATA_PROCESSED"]),
        (
            "training.py",
            [
                "TRAINING_STARTED",
                "DATA_LOADED",
                "FEATURES_ENGINEERED",
                "MODEL_TRAINED",
                "MODEL_EVALUATED",
                "TRAINING_COMPLETED",
            ],
        ),
        (
            "pipeline.py",
            [
                "DATA_INGESTED",
                "DATA_TRANSFORMED",
                "DATA_TRANSFORMED",
                "QUALITY_VALIDATED",
                "DATA_WRITTEN",
                "PIPELINE_COMPLETED",
            ],
        ),
        ("extended.py", ["INFERENCE_EXECUTED"]),
    ],
)
def test_a_program_that_sends_and_ends_has_sent_everything(
    program: str, actions: list[str], kafka_server: KafkaServer
) -> None:
    topic = kafka_server.create_database()
    run_program(program, AIDE_KAFKA_SERVERS=kafka_server.url, AIDE_KAFKA_METADATA_TOPIC=topic)
    messages = read_topic(kafka_server.url, topic, count=len(actions))
    sent = events(messages)
    assert [event["action"] for event in sent] == actions
    assert len(set(event_ids(messages))) == len(actions)
    for message, event in zip(messages, sent, strict=True):
        assert set(event) == {"resource", "subject", "action", "timestamp", "additionalValues"}
        assert isinstance(event["timestamp"], float)
        assert all(isinstance(value, str) for value in event["additionalValues"].values())
        assert message.key == event["resource"].encode()


def test_each_event_has_its_own_moment(kafka_server: KafkaServer) -> None:
    topic = kafka_server.create_database()
    run_program("training.py", AIDE_KAFKA_SERVERS=kafka_server.url, AIDE_KAFKA_METADATA_TOPIC=topic)
    moments = [event["timestamp"] for event in events(read_topic(kafka_server.url, topic, count=6))]
    assert moments == sorted(moments)
    assert len(set(moments)) == 6


def test_the_environment_chooses_kafka_or_the_log(kafka_server: KafkaServer) -> None:
    topic = kafka_server.create_database()
    where = {"AIDE_KAFKA_SERVERS": kafka_server.url, "AIDE_KAFKA_METADATA_TOPIC": topic}
    told = run_program("by_environment.py", **where)
    assert "Tracked 3 events with LoggingMetadataAPIService" in told.stdout
    assert "Action: REPORT_COMPLETED" in told.stderr
    told = run_program("by_environment.py", ENVIRONMENT="production", **where)
    assert "Tracked 3 events with HiveMetadataAPIService" in told.stdout
    sent = events(read_topic(kafka_server.url, topic, count=4))
    assert len(sent) == 4
    reports = [event["action"] for event in sent if event["resource"] == "report"]
    assert reports == ["REPORT_STARTED", "DATA_AGGREGATED", "REPORT_COMPLETED"]


def test_a_program_without_a_broker_ends_and_tells_what_was_not_delivered(unused_address: str) -> None:
    told = run_program("training.py", AIDE_KAFKA_SERVERS=unused_address)
    assert "6 of 6 events were not delivered to Kafka" in told.stderr
