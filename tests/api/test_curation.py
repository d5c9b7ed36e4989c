"""What people own about datasets and fields, and the tags of personal data, over the API."""

from __future__ import annotations

import pytest
from django.utils import timezone

from aide.audit.models import AuditEntry
from registry.models import Field, FieldTag, PIITag
from tests.factories import api_client, make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    dataset = make_dataset("people", system=make_system("crm"))
    publish(dataset, ("id", "bigint"), ("email", "text"))
    return dataset


@pytest.fixture
def steward(dataset):
    user = make_user("steward")
    user.systems.add(dataset.system)
    return api_client(user)


def suggestion(field, code="shoe_size"):
    tag, _ = PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})
    return FieldTag.objects.create(field=field, tag=tag, state="suggested", since=timezone.now())


def test_a_steward_describes_own_systems_only(dataset, steward):
    other = make_dataset()
    field = Field.objects.get(path="email")
    changed = steward.patch(f"/api/v1/fields/{field.pk}", {"description": "Where to write", "owner": "CRM"})
    assert changed.status_code == 200, changed.content
    assert changed.json()["description"] == "Where to write"
    assert changed.json()["row_version"] == 2
    described = steward.patch(f"/api/v1/datasets/{dataset.pk}", {"description": "People", "tags": ["core"]})
    assert described.status_code == 200, described.content
    refused = steward.patch(f"/api/v1/datasets/{other.pk}", {"description": "x"})
    assert refused.status_code == 403
    assert AuditEntry.objects.filter(action="field.edit", system_code="crm").exists()
    assert not AuditEntry.objects.filter(object_id=str(other.pk), action="dataset.edit").exists()


def test_an_engineer_moves_a_dataset_but_does_not_describe_it(dataset):
    engineer = api_client(make_user("engineer"))
    path = f"/api/v1/datasets/{dataset.pk}"
    assert engineer.patch(path, {"description": "x"}).status_code == 403
    assert engineer.patch(path, {"compatibility": "BACKWARD"}).status_code == 200
    place = {"database": "crm", "schema": "public", "table": "persons"}
    assert engineer.patch(path, {"location": place}).json()["error_code"] == "IMMUTABLE", "it is published"
    unpublished = make_dataset("people_draft", system=dataset.system)
    path = f"/api/v1/datasets/{unpublished.pk}"
    assert engineer.patch(path, {"location": place}).json()["name"] == "public.persons"
    assert engineer.patch(path, {"kind": "kafka"}).status_code == 422
    steward_like = api_client(make_user("approver"))
    assert steward_like.patch(path, {"location": place | {"table": "x"}}).status_code == 403


@pytest.mark.parametrize(
    "change", [{"name": "mail"}, {"source_comment": "x"}, {"path": "x"}, {"pii_tags": ["email"]}]
)
def test_what_the_source_owns_cannot_be_written(dataset, change):
    field = Field.objects.get(path="email")
    approver = api_client(make_user("approver"))
    answer = approver.patch(f"/api/v1/fields/{field.pk}", change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "read_only"
    whole = approver.get(f"/api/v1/fields/{field.pk}").json()
    assert approver.put(f"/api/v1/fields/{field.pk}", whole | {"owner": "me"}).status_code == 200


def test_an_older_row_version_of_a_field_is_refused(dataset):
    field = Field.objects.get(path="email")
    approver = api_client(make_user("approver"))
    path = f"/api/v1/fields/{field.pk}"
    assert approver.patch(path, {"owner": "a", "row_version": 1}).status_code == 200
    stale = approver.patch(path, {"owner": "b", "row_version": 1})
    assert stale.json()["error_code"] == "VERSION_CONFLICT"
    assert stale.json()["current"]["owner"] == "a"


def test_a_tree_that_is_cut_says_so(dataset, monkeypatch):
    monkeypatch.setattr("registry.api.fields.MAX_TREE", 1)
    tree = api_client(make_user("viewer")).get(f"/api/v1/fields/tree/{dataset.pk}").json()
    assert (len(tree["items"]), tree["truncated"]) == (1, True)


def test_fields_come_as_a_tree(dataset):
    engineer = api_client(make_user("engineer"))
    top = engineer.post("/api/v1/fields", {"dataset_id": dataset.pk, "name": "address"}).json()
    body = {"dataset_id": dataset.pk, "name": "post.code", "parent_id": top["id"]}
    child = engineer.post("/api/v1/fields", body).json()
    assert child["path"] == 'address."post.code"'
    tree = engineer.get(f"/api/v1/fields/tree/{dataset.pk}").json()
    assert [node["name"] for node in tree["items"]] == ["id", "email", "address"]
    assert tree["truncated"] is False
    assert tree["items"][2]["children"][0]["id"] == child["id"]
    children = engineer.get(f"/api/v1/fields/{top['id']}/children").json()
    assert [one["id"] for one in children["items"]] == [child["id"]]
    for path in ("fields/tree/999999", "fields/tree/x", "fields/999999/children"):
        assert engineer.get(f"/api/v1/{path}").status_code == 404
    assert engineer.post("/api/v1/fields", body).json()["error_code"] == "FIELD_ALREADY_EXISTS"
    assert engineer.delete(f"/api/v1/fields/{top['id']}").status_code == 409
    assert engineer.delete(f"/api/v1/fields/{child['id']}").status_code == 204


def test_retired_fields_are_left_out_unless_asked_for(dataset):
    publish(dataset, ("id", "bigint"))
    viewer = api_client(make_user("viewer"))

    def names(query):
        answer = viewer.get(f"/api/v1/fields?dataset_id={dataset.pk}&{query}")
        return [one["name"] for one in answer.json()["items"]]

    assert names("") == ["id"]
    assert names("retired=true") == ["email"]
    assert viewer.get("/api/v1/fields?retired=maybe").status_code == 422


def test_suggestions_are_decided_together_or_not_at_all(dataset, steward):
    email, identity = Field.objects.get(path="email"), Field.objects.get(path="id")
    yes, no = suggestion(email), suggestion(identity)
    body = {"accept": [yes.pk], "reject": [{"id": no.pk, "reason": ""}]}
    assert steward.post("/api/v1/field-tags/decide", body).status_code == 422
    body["reject"][0]["reason"] = "not personal"
    decided = steward.post("/api/v1/field-tags/decide", body)
    assert decided.status_code == 200, decided.content
    assert [row["state"] for row in decided.json()["accepted"]] == ["confirmed"]
    assert decided.json()["rejected"][0]["reason"] == "not personal"
    assert steward.get(f"/api/v1/fields/{email.pk}").json()["pii_tags"] == ["shoe_size"]
    again = steward.post("/api/v1/field-tags/decide", {"accept": [yes.pk]})
    assert again.json()["error_code"] == "STALE_CHANGE"
    assert steward.post("/api/v1/field-tags/decide", {"accept": [10**9]}).status_code == 422
    tagged = steward.get("/api/v1/fields?pii_tag=shoe_size").json()
    assert [one["id"] for one in tagged["items"]] == [email.pk]
    assert steward.get("/api/v1/fields?pii_tag__in=shoe_size,other").json()["total"] == 1
    confirmed = steward.get(f"/api/v1/field-tags?field_id={email.pk}&state=confirmed").json()["items"][0]
    assert decided.json()["changed"] == []
    asked = steward.delete(f"/api/v1/field-tags/{confirmed['id']}")
    assert (asked.status_code, asked.json()["state"]) == (202, "confirmed")
    assert asked.json()["removal_by"].startswith("steward")
    again = steward.delete(f"/api/v1/field-tags/{confirmed['id']}")
    assert (again.status_code, again.json()["error_code"]) == (403, "FOUR_EYES_REQUIRED")


def test_deciding_is_for_stewards_of_the_system_and_approvers(dataset):
    row = suggestion(Field.objects.get(path="email"))
    body = {"accept": [row.pk]}
    other = make_user("steward")
    other.systems.add(make_system())
    for user in (make_user("admin"), make_user("engineer"), make_user("viewer"), other):
        assert api_client(user).post("/api/v1/field-tags/decide", body).status_code == 403
    assert api_client(make_user("approver")).post("/api/v1/field-tags/decide", body).status_code == 200


def test_a_person_tags_a_field(dataset, steward):
    field = Field.objects.get(path="email")
    suggestion(field, "telephone")
    made = steward.post("/api/v1/field-tags", {"field_id": field.pk, "tag": "telephone"})
    assert made.status_code == 201, made.content
    assert made.json()["state"] == "confirmed"
    assert steward.patch(f"/api/v1/field-tags/{made.json()['id']}", {}).status_code == 405


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "rdbms", "name": "orders", "location": {"schema": "public", "table": "orders"}}, "name"),
        ({"kind": "rdbms", "location": {"schema": "public"}}, "location.table"),
        ({"kind": "kafka", "location": {"topic": "t", "bucket": "b"}}, "location.bucket"),
        ({"kind": "kafka", "location": {"topic": "t", "partitions": "many"}}, "location.partitions"),
        ({"kind": "tape", "name": "x"}, "kind"),
        ({"kind": "rdbms"}, "name"),
        ({"kind": "rdbms", "name": "a", "location": []}, "location"),
        ({"kind": "rdbms", "name": "a", "compatibility": "backward"}, "compatibility"),
    ],
)
def test_a_location_must_fit_its_kind(body, field):
    make_system("here")
    answer = api_client(make_user("engineer")).post("/api/v1/datasets", {"system": "here", **body})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_names_of_tables_quote_dots():
    make_system("here")
    body = {"system": "here", "kind": "rdbms", "location": {"schema": "a.b", "table": 'c"d'}}
    answer = api_client(make_user("engineer")).post("/api/v1/datasets", body)
    assert answer.json()["name"] == '"a.b"."c""d"'
