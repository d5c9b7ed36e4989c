"""Phases, sessions and the quality of metadata; schemas of events."""

from __future__ import annotations

import datetime as dt

import pytest

from aide.audit.models import AuditEntry
from lineage import events, phases, quality, sessions
from lineage.phases import Phase
from lineage.sessions import Told
from tests.factories import api_client, make_user

START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def told(n, action, *, resource="orders", subject="load", minutes=0, **values):
    return Told(f"e{n}", resource, subject, action, START + dt.timedelta(minutes=minutes or n), values)


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("TRAINING_STARTED", ("TRAINING", Phase.BEGAN)),
        ("training-completed", ("TRAINING", Phase.OVER)),
        ("TrainingFailed", ("TRAINING", Phase.FAILED)),
        ("START", ("", Phase.BEGAN)),
        ("READ_COMPLETE", ("READ", Phase.OVER)),
        ("FAILED_LOAD", ("LOAD", Phase.FAILED)),
        ("DATA_WRITTEN", ("DATA_WRITTEN", Phase.POINT)),
        ("RESTARTED", ("RESTARTED", Phase.POINT)),
        ("", ("", Phase.POINT)),
        ("___", ("", Phase.POINT)),
    ],
)
def test_an_action_tells_its_phase(action, expected):
    assert phases.read(action) == expected


def test_a_training_run_has_parameters_metrics_and_a_duration():
    (run,) = sessions.sessions(
        [
            told(0, "TRAINING_STARTED", run_id="r1", learning_rate="0.1", epochs="10"),
            told(5, "EPOCH_DONE", run_id="r1", loss="0.5"),
            told(
                9, "TRAINING_COMPLETED", run_id="r1", accuracy="0.91", records_processed="1200", note="fine"
            ),
        ]
    )
    assert (run.run, run.about, run.state, run.seconds) == ("r1", "TRAINING", "completed", 540)
    assert run.parameters == {"learning_rate": "0.1", "epochs": "10"}
    assert run.metrics == {"loss": 0.5, "accuracy": 0.91}
    assert run.counts == {"records_processed": 1200}
    assert [step.seconds_after for step in run.steps] == [None, 300, 240]
    assert run.steps[2].values["note"] == "fine"


def test_runs_without_an_id_are_told_apart_by_their_beginning_and_end():
    found = sessions.sessions(
        [
            told(0, "LOAD_STARTED"),
            told(1, "DATA_READ", rows="5", stage="read"),
            told(2, "LOAD_COMPLETED"),
            told(3, "DATA_READ", rows="6"),
            told(4, "LOAD_STARTED"),
            told(5, "LOAD_FAILED"),
            told(6, "LOAD_STARTED"),
        ]
    )
    assert [(each.state, len(each.steps)) for each in found] == [
        *(("completed", 3), ("completed", 1), ("failed", 2), ("open", 1))
    ]
    assert found[0].steps[1].stage == "read"
    assert found[3].ended_at is None


def test_runs_that_overlap_are_kept_apart_by_their_ids_and_subjects():
    found = sessions.sessions(
        [
            told(0, "LOAD_STARTED", run_id="a"),
            told(1, "LOAD_STARTED", run_id="b"),
            told(2, "LOAD_STARTED", subject="other"),
            told(3, "LOAD_COMPLETED", run_id="a"),
            told(4, "LOAD_FAILED", run_id="b"),
            told(5, "LOAD_COMPLETED", subject="other"),
        ]
    )
    assert [(each.subject, each.run, each.state) for each in found] == [
        *(("load", "a", "completed"), ("load", "b", "failed"), ("other", "", "completed"))
    ]


def findings(told_events, **values):
    (found,) = quality.audit(told_events, until=START + dt.timedelta(days=1), **values)
    return found, {(each.rule, each.what): each for each in found.findings}


def test_a_key_that_most_have_is_missed_in_the_others():
    many = [told(n, "DATA_READ", rows="1", source="s3") for n in range(9)]
    subject, found = findings([*many, told(9, "DATA_READ", rows="")])
    assert set(found) == {("missing_key", "rows"), ("missing_key", "source")}
    assert found["missing_key", "rows"].examples == ["e9"]
    assert (subject.events, subject.score) == (10, 0.9)
    assert findings(many)[1] == {}


def test_resources_that_are_named_otherwise_are_told():
    many = [told(n, "DATA_READ", resource=f"orders_{n}") for n in range(8)]
    odd = [told(8, "DATA_READ", resource="Orders New!"), told(9, "DATA_READ", resource="a" * 32)]
    _, found = findings([*many, *odd])
    assert set(found) == {("irregular_resource", "another style"), ("irregular_resource", "a random name")}


def test_what_began_and_never_ended_is_told_after_a_while():
    _, found = findings(
        [
            told(0, "LOAD_STARTED"),
            told(1, "LOAD_STARTED", resource="other"),
            told(2, "LOAD_COMPLETED"),
            told(3, "LOAD_STARTED", minutes=24 * 60 - 5, resource="now"),
        ]
    )
    assert set(found) == {("not_closed", "LOAD")}
    assert (found["not_closed", "LOAD"].count, found["not_closed", "LOAD"].of) == (1, 3)
    assert found["not_closed", "LOAD"].examples == ["e1"]


def test_styles_are_named():
    names = {
        "orders_raw": "words with underscores",
        "orders-raw": "words with hyphens",
        "sales.orders": "words with points",
        "s3://b/x": "an address",
        "/data/x": "a path",
        "OrdersRaw": "words run together",
        "": "no name",
        "3f0c8d52-6c0b-4f0e-9a53-6f2b7c8d4e10": "a random name",
    }
    assert {name: quality.style_of(name) for name in names} == names


# Over the API


@pytest.fixture
def client():
    return api_client(make_user("approver"))


def send(*bodies):
    events.accept([{"timestamp": START.timestamp() + n, **body} for n, body in enumerate(bodies)])


@pytest.mark.django_db
def test_sessions_of_a_resource_are_read_newest_first(client):
    send(
        {"resource": "s3://b/o", "subject": "s", "action": "LOAD_STARTED", "additionalValues": {"rows": 3}},
        {"resource": "s3://b/o", "subject": "s", "action": "LOAD_COMPLETED"},
        {"resource": "other", "subject": "s", "action": "LOAD_STARTED"},
        {"resource": "s3://b/o", "subject": "s", "action": "LOAD_STARTED"},
    )
    answer = client.get("/api/v1/metadata/sessions/s3://b/o").json()
    assert (answer["resource"], answer["events"], answer["is_capped"]) == ("s3://b/o", 3, False)
    assert [each["state"] for each in answer["sessions"]] == ["open", "completed"]
    assert answer["sessions"][1]["counts"] == {"rows": 3.0}
    assert answer["sessions"][1]["began_at"] == "2026-03-01T00:00:00Z"
    capped = client.get("/api/v1/metadata/sessions/s3://b/o", {"limit": 1}).json()
    assert (capped["events"], capped["is_capped"]) == (1, True)
    assert client.get("/api/v1/metadata/sessions/nothing").json()["sessions"] == []
    assert client.get("/api/v1/metadata/sessions/x", {"colour": 1}).status_code == 422


@pytest.mark.django_db
def test_the_audit_is_asked_for_a_span_and_a_subject(client):
    send(*({"resource": f"r_{n}", "subject": "a", "action": "X_STARTED"} for n in range(3)), {"subject": "b"})
    span = {"from": "2026-02-28", "to": "2026-03-02"}
    answer = client.get("/api/v1/metadata/quality", span).json()
    assert (answer["events"], answer["from"]) == (4, "2026-02-28T00:00:00Z")
    assert {each["subject"]: each["score"] for each in answer["subjects"]} == {"a": 0.0, "b": 0.0}
    only = client.get("/api/v1/metadata/quality", {**span, "subject": "a"}).json()
    assert [each["rule"] for each in only["subjects"][0]["findings"]] == ["not_closed"]
    assert client.get("/api/v1/metadata/quality").json()["events"] == 0
    assert client.get("/api/v1/metadata/quality", {"from": "soon"}).status_code == 422
    assert client.get("/api/v1/metadata/quality", {"to": "0001-01-02"}).status_code == 200


SCHEMA = {
    "type": "object",
    "properties": {
        "additionalValues": {
            "type": "object",
            "required": ["rows"],
            "properties": {"rows": {"pattern": "[0-9]+"}},
        }
    },
}


@pytest.mark.django_db
def test_schemas_are_versions_and_the_audit_tells_what_breaks_them(client):
    first = client.post(
        "/api/v1/metadata/schemas", {"name": "load", "action": "LOAD", "schema": {}}, format="json"
    )
    assert (first.status_code, first.json()["version"]) == (201, 1)
    second = client.post(
        "/api/v1/metadata/schemas", {"name": "load", "action": "LOAD", "schema": SCHEMA}, format="json"
    ).json()
    assert (second["version"], second["is_active"]) == (2, True)
    send(
        {"resource": "r", "subject": "s", "action": "LOAD"},
        {"resource": "r", "subject": "s", "action": "LOAD", "additionalValues": {"rows": "5"}},
        {"resource": "r", "subject": "s", "action": "LOAD", "additionalValues": {"rows": "x"}},
        {"resource": "r", "subject": "s", "action": "LOAD", "additionalValues": {"event_schema": "load:1"}},
        {"resource": "r", "subject": "s", "action": "LOAD", "additionalValues": {"event_schema": "gone"}},
    )
    span = {"from": "2026-02-28", "to": "2026-03-02"}

    def broken():
        found = client.get("/api/v1/metadata/quality", span).json()["subjects"][0]["findings"]
        return sorted((each["what"], each["count"]) for each in found if each["rule"] == "schema")

    assert broken() == [("gone", 1), ("load 2", 1), ("load 2", 1)]
    url = f"/api/v1/metadata/schemas/{second['id']}"
    assert client.patch(url, {"is_active": False}, format="json").json()["is_active"] is False
    assert broken() == [("gone", 1)]
    assert client.patch(url, {"schema": {}}, format="json").status_code == 422
    assert AuditEntry.objects.filter(action__startswith="event_schema.").count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "schema": {"type": "nonsense"}},
        {"name": "x", "schema": {"$ref": "http://example.com/x"}},
        {"name": "x", "schema": {"pattern": "("}},
        {"name": "x", "schema": []},
        {"name": "a:b", "schema": {}},
        {"name": "", "schema": {}},
        {"schema": {}},
        {"name": "x", "schema": {}, "version": 7},
    ],
    ids=str,
)
def test_what_is_no_schema_is_refused(client, body):
    assert client.post("/api/v1/metadata/schemas", body, format="json").status_code == 422
