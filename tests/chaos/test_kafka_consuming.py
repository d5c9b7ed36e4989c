"""Consumers that are killed, join and leave, and a broker that dies: each message is stored exactly once."""

from __future__ import annotations

import json
import random
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from lineage.kafka import API_VERSION, EVENT_ID, ORIGIN
from tests.chaos.forwarding import Production
from tests.servers import ApacheKafkaServer, PostgresServer
from tests.waiting import wait_until

pytestmark = pytest.mark.chaos
EVENTS, POISON, OWN = 6_000, 40, 60
ORIGIN_OF = "from lineage.kafka import origin; print(origin())"


@pytest.fixture
def broker(apachekafka_server: ApacheKafkaServer) -> ApacheKafkaServer:
    if not apachekafka_server.is_ours:
        pytest.skip("the broker is not ours to kill")
    return apachekafka_server


@pytest.fixture
def production(
    postgres_server: PostgresServer, broker: ApacheKafkaServer, tmp_path: Path
) -> Iterator[Production]:
    made = Production(postgres_server, broker.url, broker.create_database(), tmp_path)
    try:
        yield made
    finally:
        made.close()


def metadata(number: int) -> dict[str, Any]:
    found = {"resource": f"r{number % 50}", "subject": "theirs", "action": "A", "timestamp": 1.7e9 + number}
    return found | ({"event_id": f"e{number}"} if number % 3 else {})


def lineage(number: int) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-02T03:04:05Z",
        "producer": "https://example.com/pipeline",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.UUID(int=number + 1, version=4))},
        "job": {"namespace": "chaos", "name": f"job{number % 20}"},
        "inputs": [{"namespace": "postgres://db:5432", "name": f"shop.public.t{number % 9}"}],
        "outputs": [{"namespace": "postgres://db:5432", "name": f"shop.public.t{number % 9 + 1}"}],
    }


def fill(broker: ApacheKafkaServer, production: Production, make: Any, events: int) -> None:
    """Events of others, some with their id in the header only, poison and our own messages, mixed."""
    ours = production.run("shell", "--no-imports", "-c", ORIGIN_OF).split()[-1]
    plain: list[tuple[bytes | None, list[tuple[str, bytes]]]] = [
        (json.dumps(make(n)).encode(), [(EVENT_ID, f"h{n}".encode())] if n % 6 == 0 else [])
        for n in range(events)
    ]
    poison = [b"{", b"\xff\x00\xfe", None, b"[1]"]
    plain += [(poison[n % len(poison)], []) for n in range(POISON)]
    plain += [(json.dumps(make(events + n)).encode(), [(ORIGIN, ours.encode())]) for n in range(OWN)]
    random.Random(3).shuffle(plain)
    producer = KafkaProducer(
        bootstrap_servers=[broker.url], api_version=API_VERSION, acks="all", metrics_enabled=False
    )
    try:
        for number, (value, headers) in enumerate(plain):
            producer.send(production.topic, value, key=b"%d" % (number % 50), headers=headers)
        producer.flush(60)
    finally:
        producer.close()


@pytest.mark.parametrize(
    ("command", "table", "make", "events"),
    [
        ("consume_metadata", "lineage_event", metadata, EVENTS),
        ("consume_lineage", "lineage_lineageevent", lineage, EVENTS // 3),
    ],
)
def test_each_message_is_stored_once(
    broker: ApacheKafkaServer, production: Production, command: str, table: str, make: Any, events: int
) -> None:
    fill(broker, production, make, events)
    asked = (command, "--topic", production.topic)

    def stored() -> int:
        return int(production.ask(f"SELECT count(*) FROM {table}")[0])

    first = production.start(*asked)
    wait_until(lambda: stored() > 0, timeout=120)
    first.kill()
    second, third = production.start(*asked), production.start(*asked)
    reached = stored()
    wait_until(lambda: stored() > reached or stored() == events, timeout=120)
    second.kill()
    broker.kill()
    broker.start()
    fourth = production.start(*asked)
    # Read to the end by those that live; then once more from the beginning by another group.
    wait_until(lambda: stored() == events, timeout=240, every=0.5)
    for process in (third, fourth):
        process.send_signal(signal.SIGTERM)
    for process in (third, fourth):
        assert process.wait(60) == 0
    production.run(*asked, "--until-end", "8")
    again = production.run(*asked, "--group", "another", "--until-end", "8")
    assert f"{events + POISON + OWN} messages read, {OWN} our own, {POISON} refused" in again
    time.sleep(0.5)
    assert stored() == events
    assert production.ask("SELECT count(*) FROM lineage_refusedmessage") == (POISON,)
    reasons = production.ask("SELECT count(*) FROM lineage_refusedmessage WHERE reason = ''")
    assert reasons == (0,)
