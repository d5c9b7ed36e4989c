"""Events through the client and through the metadata services, against the running server."""

from __future__ import annotations

import secrets
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aide_sdk import AideClient, SyncAideClient, ValidationError
from aissemble_core_metadata.aide_metadata_api_service import AideMetadataAPIService
from aissemble_core_metadata.hive_metadata_api_service import HiveMetadataAPIService
from aissemble_core_metadata.messaging_config import MessagingConfig
from aissemble_core_metadata.metadata_model import MetadataModel

from tests.flows.product import Served
from tests.servers import KafkaServer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _needs(request: pytest.FixtureRequest, routes: frozenset[str]) -> None:
    marker = request.node.get_closest_marker("needs")
    for path in ("/api/v1/metadata", *(marker.args if marker else ())):
        if path not in routes:
            pytest.skip(f"this server has no {path}")


@pytest.fixture
def program(served: Served, service_key: str) -> Any:
    with AideClient.sync(served.home, api_key=service_key) as client:
        yield client


def name() -> str:
    return f"r-{secrets.token_hex(4)}"


def test_events_are_stored_and_found_by_every_field(program: SyncAideClient) -> None:
    resource = name()
    stored = program.metadata.create(
        resource=resource, subject="loader", action="LOADED", timestamp=NOON, additionalValues={"rows": "7"}
    )
    assert (stored.resource, stored.timestamp) == (resource, NOON.timestamp())
    assert stored.additionalValues == {"rows": "7"}
    assert program.metadata.get(stored.id).event_id == stored.event_id
    outcomes = program.metadata.create_many(
        [
            {
                "resource": resource,
                "action": f"STAGE_{n}",
                "timestamp": (NOON + timedelta(hours=n)).timestamp(),
            }
            for n in range(1, 6)
        ]
    )
    assert [each.status for each in outcomes] == ["stored"] * 5
    newest_first = [f"STAGE_{n}" for n in range(5, 0, -1)] + ["LOADED"]
    assert [each.action for each in program.metadata.list(resource=resource, size=2)] == newest_first
    page = program.metadata.page(1, resource=resource, size=4)
    assert (page.total, len(page.items), page.has_next) == (6, 4, True)
    found = program.metadata.list({"additionalValues.rows": "7"}, resource=resource)
    assert [each.action for each in found] == ["LOADED"]
    found = program.metadata.list(
        resource=resource, from_=NOON + timedelta(hours=4), to=NOON + timedelta(hours=5)
    )
    assert [each.action for each in found] == ["STAGE_5", "STAGE_4"]


def test_a_repetition_is_no_second_event(program: SyncAideClient) -> None:
    event = {"resource": name(), "action": "ONCE", "event_id": uuid.uuid4().hex}
    assert [each.status for each in program.metadata.create_many([event, event])] == ["stored", "duplicate"]
    assert program.metadata.create(event).event_id == event["event_id"]
    assert len(list(program.metadata.list(resource=event["resource"]))) == 1
    key = secrets.token_hex(8)
    first = program.metadata.create(resource=event["resource"], event_id="fixed" + key, idempotency_key=key)
    again = program.metadata.create(resource=event["resource"], event_id="fixed" + key, idempotency_key=key)
    assert first.id == again.id
    with pytest.raises(ValidationError):
        program.metadata.create(resource="other", event_id="other" + key, idempotency_key=key)


def test_the_aide_service_sends_and_finds(
    served: Served, service_key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDE_METASTORE_URL", served.home)
    monkeypatch.setenv("AIDE_METASTORE_API_KEY", service_key)
    monkeypatch.setenv("AIDE_SPOOL_DIR", str(tmp_path))
    resource = name()
    service = AideMetadataAPIService()
    try:
        for number in range(3):
            service.create_metadata(
                MetadataModel(
                    resource=resource, action=f"A{number}", timestamp=number, additionalValues={"n": number}
                )
            )
        found = service.get_metadata({"resource": resource})
        assert [each.action for each in found] == ["A0", "A1", "A2"]
        assert all(isinstance(each, MetadataModel) for each in found)
        assert [each.timestamp for each in found] == [0.0, 1.0, 2.0]
        assert [each.action for each in service.get_metadata({"resource": resource, "timestamp": 1})] == [
            "A1"
        ]
        found = service.get_metadata({"resource": resource, "additionalValues": {"n": 2}})
        assert [each.action for each in found] == ["A2"]
        assert service.close().is_empty
    finally:
        service.close(0)


def test_the_kafka_service_finds_on_the_aide_server(
    served: Served,
    service_key: str,
    program: SyncAideClient,
    kafka_server: KafkaServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AIDE_METASTORE_URL", served.home)
    monkeypatch.setenv("AIDE_METASTORE_API_KEY", service_key)
    resource = name()
    program.metadata.create_many(
        [{"resource": resource, "action": f"A{number}", "timestamp": number} for number in range(3)]
    )
    service = HiveMetadataAPIService(config=MessagingConfig({"AIDE_KAFKA_SERVERS": kafka_server.url}))
    try:
        found = service.get_metadata({"resource": resource, "from": 1})
        assert [each.action for each in found] == ["A1", "A2"]
    finally:
        service.close()


@pytest.mark.needs("/api/v1/outbox")
def test_the_outbox_is_read(program: SyncAideClient, engineer: SyncAideClient) -> None:
    resource = name()
    stored = program.metadata.create(resource=resource, action="SENT")
    message = next(engineer.outbox.list(event_id=stored.event_id))
    assert (message.kind, message.key, message.topic) == ("metadata", resource, "metadata-ingest")
    assert message.status in {"pending", "delivered"}
    assert engineer.outbox.get(message.id).event_id == stored.event_id


def lineage_event(job: str, source: str, target: str, *, run_id: str | None = None) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T12:00:00Z",
        "run": {"runId": run_id or str(uuid.uuid4())},
        "job": {"namespace": "jobs", "name": job},
        "inputs": [{"namespace": "files", "name": source}],
        "outputs": [{"namespace": "files", "name": target}],
        "producer": "https://example.com/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/definitions/RunEvent",
    }


@pytest.mark.needs("/api/v1/lineage", "/api/v1/lineage/graph", "/api/v1/lineage/events")
def test_lineage_events_lead_to_a_graph(program: SyncAideClient) -> None:
    first, second, third = name(), name(), name()
    event = lineage_event("copy", first, second)
    program.lineage.create(event)
    program.lineage.create(event)
    batch = program.lineage.create_many([lineage_event("merge", second, third), {"eventType": "START"}])
    assert [failed["index"] for failed in batch.failed_events] == [1]
    (kept,) = program.lineage_events.list(run_id=event["run"]["runId"])
    assert kept.event["run"] == event["run"]
    graph = program.lineage.graph(namespace="files", name=third, direction="up", depth=5)
    assert {(node["name"], node["depth"]) for node in graph.nodes} == {(third, 0), (second, 1), (first, 2)}
    assert len(graph.edges) == 2
    assert not graph.truncated
