"""Versions over the API: drafts piece by piece, whole documents, and what is frozen."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from aide.audit.models import AuditEntry
from registry.models import DatasetSchema
from tests.factories import (
    api_client,
    make_api_key,
    make_dataset,
    make_document,
    make_service,
    make_system,
    make_user,
    publish,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer():
    return api_client(make_user("engineer"))


def ok(answer, status=201):
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_version_is_written_piece_by_piece_and_then_frozen(engineer):
    make_system("shop")
    body = {
        "system": "shop",
        "kind": "rdbms",
        "location": {"database": "shop", "schema": "public", "table": "orders"},
    }
    dataset = ok(engineer.post("/api/v1/datasets", body))
    assert dataset["name"] == "public.orders"
    assert dataset["status"] == "draft"
    fields = [
        ok(engineer.post("/api/v1/fields", {"dataset_id": dataset["id"], "name": name, "description": "d"}))
        for name in ("id", "amount")
    ]
    schema = ok(engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset["id"], "version_num": 1}))
    assert schema["status"] == "draft"
    types = {
        code: ok(engineer.get(f"/api/v1/data-types?flavor=postgresql&code={code}"), 200)["items"][0]["id"]
        for code in ("bigint", "numeric")
    }
    whole = ok(engineer.post("/api/v1/type-instances", {"data_type_id": types["bigint"]}))
    money = ok(
        engineer.post(
            "/api/v1/type-instances",
            {"data_type_id": types["numeric"], "type_params": {"precision": 12, "scale": 2}},
        )
    )
    assert money["rendered"] == "numeric(12,2)"
    bindings = [
        ok(
            engineer.post(
                "/api/v1/field-bindings",
                {
                    "dataset_schema_id": schema["id"],
                    "field_id": field["id"],
                    "position": place,
                    "is_nullable": place > 1,
                    "type_instance_id": instance["id"],
                    "primary_key": 1 if place == 1 else None,
                },
            )
        )
        for place, (field, instance) in enumerate(zip(fields, (whole, money), strict=True), start=1)
    ]
    moved = ok(engineer.patch(f"/api/v1/field-bindings/{bindings[1]['id']}", {"comment": "in euros"}), 200)
    assert moved["native_type"] == "numeric(12,2)"
    ok(engineer.patch(f"/api/v1/dataset-schemas/{schema['id']}", {"comment": "Orders"}), 200)
    published = ok(engineer.post(f"/api/v1/dataset-schemas/{schema['id']}/publish"), 200)
    assert published["status"] == "published"
    assert len(published["fingerprint"]) == 64
    document = ok(engineer.get(f"/api/v1/datasets/{dataset['id']}/schema"), 200)
    assert (document["schema"], document["name"], document["version"]) == ("public", "orders", 1)
    assert document["primary_key"]["columns"] == ["id"]
    amount = document["fields"][1]
    assert amount["data_type"] == "numeric"
    assert amount["type_params"] == {"precision": 12, "scale": 2}
    assert amount["field_id"] == fields[1]["id"]
    assert ok(engineer.get(f"/api/v1/datasets/{dataset['id']}"), 200)["current_version"] == 1
    frozen = [
        engineer.patch(f"/api/v1/dataset-schemas/{schema['id']}", {"comment": "x"}),
        engineer.delete(f"/api/v1/dataset-schemas/{schema['id']}"),
        engineer.post(f"/api/v1/dataset-schemas/{schema['id']}/publish"),
        engineer.patch(f"/api/v1/field-bindings/{bindings[0]['id']}", {"name": "x"}),
        engineer.put(f"/api/v1/field-bindings/{bindings[0]['id']}", bindings[0]),
        engineer.delete(f"/api/v1/field-bindings/{bindings[0]['id']}"),
        engineer.patch(f"/api/v1/type-instances/{whole['id']}", {"type_params": {}}),
    ]
    assert {(answer.status_code, answer.json()["error_code"]) for answer in frozen} == {(409, "IMMUTABLE")}
    late = engineer.post(
        "/api/v1/field-bindings",
        {"dataset_schema_id": schema["id"], "field_id": fields[0]["id"], "position": 9},
    )
    assert late.json()["error_code"] == "IMMUTABLE"
    in_use = engineer.delete(f"/api/v1/type-instances/{whole['id']}")
    assert in_use.json()["error_code"] == "HAS_DEPENDENT_ENTITIES"


def test_a_document_is_published_at_once_and_equal_content_is_the_same_version(engineer):
    dataset = make_dataset()
    body = {"dataset_id": dataset.pk, "document": make_document(("id", "bigint"), ("name", "text"))}
    first = ok(engineer.post("/api/v1/dataset-schemas", body))
    again = ok(engineer.post("/api/v1/dataset-schemas", body), 200)
    assert again["id"] == first["id"]
    body["document"]["fields"][1]["native_type"] = "varchar(20)"
    second = ok(engineer.post("/api/v1/dataset-schemas", body))
    assert second["version_num"] == 2
    # What the API serves may be sent back.
    served = ok(engineer.get(f"/api/v1/datasets/{dataset.pk}/schema"), 200)
    returned = engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset.pk, "document": served})
    assert ok(returned, 200)["id"] == second["id"]
    assert AuditEntry.objects.filter(action="dataset.publish").count() == 2


def test_versions_are_served_by_number_and_by_time(engineer):
    dataset = make_dataset()
    one, two = publish(dataset, ("id", "bigint")), publish(dataset, ("id", "bigint"), ("b", "text"))
    march = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    DatasetSchema.objects.filter(pk=one.pk).update(published_at=march)
    DatasetSchema.objects.filter(pk=two.pk).update(published_at=march + dt.timedelta(days=30))
    path = f"/api/v1/datasets/{dataset.pk}/schema"

    def version(query):
        return ok(engineer.get(f"{path}?{query}"), 200)["version"]

    assert version("") == 2
    assert version("version=1") == 1
    assert version("as_of=2026-03-01T00:00Z") == 1
    assert version("as_of=2026-03-30") == 1
    assert version("as_of=2026-04-01T00:00:00+02:00") == 2
    early = engineer.get(f"{path}?as_of=2026-02-01")
    assert (early.status_code, early.json()["error_code"]) == (404, "DATASET_SCHEMA_NOT_FOUND")
    for query in ("version=9", f"version={'9' * 9}"):
        assert engineer.get(f"{path}?{query}").status_code == 404
    for query in ("version=x", "as_of=never", "version=1&as_of=2026-03-01", "other=1"):
        assert engineer.get(f"{path}?{query}").status_code == 422
    empty = make_dataset()
    assert engineer.get(f"/api/v1/datasets/{empty.pk}/schema").status_code == 404


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        "text",
        {"fields": []},
        {"fields": "x"},
        {"fields": [{}]},
        {"fields": [{"name": "a", "native_type": "int"}, {"name": "a", "native_type": "int"}]},
        {"fields": [{"name": "a", "native_type": "int", "position": 10**30}]},
        {"fields": [{"name": "a", "native_type": "int"}], "name": "other"},
        {"fields": [{"name": "a", "native_type": "int"}], "nonsense": 1},
        {"fields": [{"name": "a", "native_type": "int"}], "primary_key": {"columns": ["b"]}},
    ],
)
def test_a_document_that_cannot_be_is_refused_with_its_path(engineer, document):
    answer = engineer.post("/api/v1/dataset-schemas", {"dataset_id": make_dataset().pk, "document": document})
    assert answer.status_code == 422, answer.content
    assert all(error["field"].startswith("document") for error in answer.json()["errors"])


def test_publishing_needs_an_engineer_or_a_key_that_writes_the_registry():
    dataset = make_dataset()
    body = {"dataset_id": dataset.pk, "document": make_document()}
    for role in ("viewer", "steward", "approver", "admin", "service"):
        answer = api_client(make_user(role)).post("/api/v1/dataset-schemas", body)
        assert answer.status_code == 403, role
    service = make_service()
    reading = api_client(secret=make_api_key(service, "registry:read", "crawl:write")[1])
    assert reading.post("/api/v1/dataset-schemas", body).status_code == 403
    elsewhere = make_api_key(service, "registry:write", system_codes=["elsewhere"])[1]
    assert api_client(secret=elsewhere).post("/api/v1/dataset-schemas", body).status_code == 403
    here = make_api_key(service, "registry:write", system_codes=[dataset.system.code])[1]
    assert api_client(secret=here).post("/api/v1/dataset-schemas", body).status_code == 201


def test_an_empty_draft_is_not_published_and_a_draft_may_be_thrown_away(engineer):
    dataset = make_dataset()
    draft = ok(engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset.pk}))
    assert engineer.post(f"/api/v1/dataset-schemas/{draft['id']}/publish").status_code == 422
    gap = engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset.pk, "version_num": 9})
    assert gap.status_code == 422
    taken = engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset.pk, "version_num": 1})
    assert taken.json()["error_code"] == "DATASET_SCHEMA_ALREADY_EXISTS"
    assert engineer.delete(f"/api/v1/dataset-schemas/{draft['id']}").status_code == 204


def test_a_nested_type_is_a_tree(engineer):
    dataset = make_dataset()
    publish(dataset, ("tags", "text[]"))
    binding = engineer.get("/api/v1/field-bindings").json()["items"][0]
    tree = ok(engineer.get(f"/api/v1/type-instances/{binding['type_instance_id']}/tree"), 200)
    assert tree["rendered"] == "text[]"
    assert [part["rendered"] for part in tree["children"]] == ["text"]


def test_the_versions_of_a_dataset_are_listed(engineer):
    dataset = make_dataset()
    publish(dataset, ("id", "bigint"), by=make_user("engineer", email="e@localhost"))
    draft = engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset.pk}).json()
    found = engineer.get(f"/api/v1/dataset-schemas?dataset_id={dataset.pk}&sort=-version_num").json()
    assert found["items"][0]["id"] == draft["id"]
    assert found["items"][1]["published_by"] == "e@localhost"
    published = engineer.get("/api/v1/dataset-schemas?status=published").json()
    assert published["total"] == 1
    since = timezone.now().date().isoformat()
    assert engineer.get(f"/api/v1/dataset-schemas?published_at__gte={since}").json()["total"] == 1


@pytest.mark.parametrize(
    ("location", "document", "status"),
    [
        ({}, {"schema": "shop", "name": "orders"}, 201),
        ({}, {"name": "orders"}, 422),
        ({"database": "shop", "table": "orders"}, {"schema": "shop", "name": "orders"}, 201),
        ({"schema": "shop", "table": "orders"}, {"schema": "other", "name": "orders"}, 422),
        ({"schema": "shop", "table": "orders"}, {"schema": "shop", "name": "other"}, 422),
        ({"schema": "shop", "table": "orders"}, {"name": "orders"}, 201),
        ({"schema": "shop", "table": "orders"}, {}, 201),
    ],
)
def test_a_document_must_be_of_its_dataset(engineer, location, document, status):
    make_system("here")
    body = {"system": "here", "kind": "rdbms", "name": "shop.orders", "location": location}
    dataset = ok(engineer.post("/api/v1/datasets", body))
    body = {"dataset_id": dataset["id"], "document": make_document(**document)}
    answer = engineer.post("/api/v1/dataset-schemas", body)
    assert answer.status_code == status, answer.content
    if not location and status == 201:
        place = engineer.get(f"/api/v1/datasets/{dataset['id']}").json()["location"]
        assert place == {"schema": "shop", "table": "orders"}
