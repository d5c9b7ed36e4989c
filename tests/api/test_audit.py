"""The audit log over the API."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.audit import guard
from aide.audit.models import AuditEntry
from registry.models import System
from tests.factories import api_client, make_dataset, make_system, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def done():
    """Two changes in two systems."""
    approver = api_client(make_user("approver", email="ann@localhost"))
    for code in ("crm", "billing"):
        dataset = make_dataset(system=make_system(code))
        assert approver.patch(f"/api/v1/datasets/{dataset.pk}", {"description": "x"}).status_code == 200


def test_each_change_is_told_with_who_and_how(done):
    answer = api_client(make_user("admin")).get("/api/v1/audit?action=dataset.edit&system_code=crm").json()
    (entry,) = answer["items"]
    assert entry["actor_name"] == "ann@localhost"
    assert entry["actor_roles"] == "approver"
    assert entry["via"] == "api"
    assert entry["after"] == {"description": "x"}
    assert entry["request_id"]


def test_a_steward_sees_own_systems_and_others_nothing(done):
    steward = make_user("steward")
    assert api_client(steward).get("/api/v1/audit").status_code == 403
    steward.systems.add(make_dataset().system)
    assert api_client(steward).get("/api/v1/audit").json()["total"] == 0
    steward.systems.add(System.objects.get(code="crm"))
    found = api_client(steward).get("/api/v1/audit").json()
    assert {entry["system_code"] for entry in found["items"]} == {"crm"}
    assert api_client(steward).get("/api/v1/audit/verify").status_code == 403
    for role in ("viewer", "engineer"):
        assert api_client(make_user(role)).get("/api/v1/audit").status_code == 403


def test_nobody_writes_the_log(done):
    admin = api_client(make_user("admin"))
    row = AuditEntry.objects.first()
    for method in ("put", "patch", "delete"):
        assert getattr(admin, method)(f"/api/v1/audit/{row.pk}", {}).status_code == 405
    assert admin.post("/api/v1/audit", {}).status_code == 405


def test_the_chain_is_checked(done):
    admin = api_client(make_user("admin"))
    good = admin.get("/api/v1/audit/verify").json()
    assert good["ok"] is True
    assert (good["unsealed"], good["first_bad_id"]) == (0, None)
    row = AuditEntry.objects.order_by("pk").first()
    with guard.lifted():
        AuditEntry.objects.filter(pk=row.pk).update(reason="forged")
    assert admin.get("/api/v1/audit/verify").json()["first_bad_id"] == row.pk


def test_the_log_is_walked_by_cursor(done):
    admin = api_client(make_user("admin"))
    first = admin.get("/api/v1/audit?cursor=&size=1").json()
    second = admin.get(f"/api/v1/audit?cursor={first['next_cursor']}&size=1").json()
    assert second["items"][0]["id"] < first["items"][0]["id"]


def test_the_log_is_narrowed_by_who_what_where_and_when(done):
    admin = api_client(make_user("admin"))

    def found(query: str) -> list[str]:
        answer = admin.get(f"/api/v1/audit?action=dataset.edit&{query}")
        assert answer.status_code == 200, answer.content
        return [entry["system_code"] for entry in answer.json()["items"]]

    assert found("") == ["billing", "crm"]
    assert found("system=crm") == ["crm"]
    assert found("actor=ann@localhost&sort=id") == ["crm", "billing"]
    assert found("actor=bob@localhost") == []
    assert found("risk=breaking") == []
    assert found("touches_pii=false&via=api") == ["billing", "crm"]
    moment = AuditEntry.objects.filter(action="dataset.edit").earliest("pk").at.isoformat()
    middle = moment.replace("+00:00", "Z")
    assert found(f"from={middle}") == ["billing", "crm"]
    assert found(f"to={middle}") == ["crm"]
    assert found("from=2999-01-01") == found("to=1999-01-01") == []


@pytest.mark.parametrize(
    "query", ["from=x", "to=", "risk=grave", "dataset_id=x", "since=2026-01-01", "cursor=x"]
)
def test_what_the_log_cannot_be_asked_is_refused(done, query):
    answer = api_client(make_user("admin")).get(f"/api/v1/audit?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")


def test_reading_the_log_takes_a_constant_number_of_statements(done):
    admin = api_client(make_user("admin"))
    admin.get("/api/v1/audit")
    with CaptureQueriesContext(connection) as few:
        admin.get("/api/v1/audit?size=1")
    with CaptureQueriesContext(connection) as many:
        admin.get("/api/v1/audit?size=500")
    assert len(few) == len(many) <= 6
