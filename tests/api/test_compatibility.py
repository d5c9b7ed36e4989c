"""Levels of compatibility over the API: asked without a dataset, checked for one, and held when publishing."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.audit.models import AuditEntry
from registry import versions
from registry.documents import clean
from registry.models import Dataset, DatasetSchema
from registry.reading import place_of
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
from tests.flows.desk import contents

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def engineer():
    return api_client(make_user("engineer"))


def field(name: str, native_type: str, **values: object) -> dict[str, object]:
    return {"name": name, "native_type": native_type, **values}


def orders(level: str = "NONE") -> Dataset:
    dataset = make_dataset("orders", compatibility=level)
    publish(dataset, ("id", "integer"), ("note", "varchar(40)"))
    return Dataset.objects.get(pk=dataset.pk)


def promise(dataset: Dataset, level: str) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(compatibility=level)


def send(client, dataset: Dataset, *fields: dict[str, object], **values: object):
    body = {"dataset_id": dataset.pk, "document": {"fields": list(fields), **values}}
    return client.post(f"{API}/dataset-schemas", body)


def document_of(dataset: Dataset, *fields: tuple[str, str]) -> dict[str, object]:
    schema, name = place_of(dataset)
    return clean(make_document(*fields, schema=schema, name=name))


def check(client, dataset: Dataset, *fields: dict[str, object], **values: object):
    return client.post(f"{API}/datasets/{dataset.pk}/check", {"document": {"fields": list(fields), **values}})


def test_a_check_lists_every_reason_and_writes_nothing(engineer):
    dataset = orders("BACKWARD")
    before = contents()
    answer = check(engineer, dataset, field("id", "bigint"), field("total", "numeric", nullable=False))
    assert answer.status_code == 200, answer.content
    assert contents() == before
    verdict = answer.json()
    assert (verdict["compatible"], verdict["risk"], verdict["readers"]) == (False, "breaking", [])
    assert verdict["level"] == "BACKWARD"
    told = {(each["field"], each["rule"], each["severity"]) for each in verdict["reasons"]}
    assert told == {
        ("id", "type_wider", "safe"),
        ("note", "field_dropped", "risky"),
        ("total", "field_added_required", "breaking"),
    }
    wider = next(each for each in verdict["reasons"] if each["rule"] == "type_wider")
    assert (wider["old"], wider["new"], wider["version"]) == ("integer", "bigint", 1)


def test_a_check_of_a_dataset_without_versions_finds_nothing_against_the_first(engineer):
    answer = check(engineer, make_dataset(compatibility="FULL_TRANSITIVE"), field("id", "bigint"))
    assert answer.json() == {
        "level": "FULL_TRANSITIVE", "compatible": True, "risk": "safe", "reasons": [], "readers": [],
    }  # fmt: skip


def test_a_check_keeps_the_kind_that_a_document_does_not_name(engineer):
    dataset = make_dataset(compatibility="FULL")
    publish(dataset, ("id", "bigint"), kind="view")
    assert check(engineer, dataset, field("id", "bigint")).json()["reasons"] == []
    assert check(engineer, dataset, field("id", "bigint"), kind="table").json()["compatible"] is False


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "document"),
        ({"document": None}, "document"),
        ({"document": []}, "document"),
        ({"document": {"fields": []}}, "document.fields"),
        ({"document": {"fields": [{"name": "a"}]}}, "document.fields[0].native_type"),
        ({"document": {"fields": [{"native_type": "text"}]}}, "document.fields[0].name"),
        (
            {"document": {"fields": [{"name": "a", "native_type": "text", "odd": 1}]}},
            "document.fields[0].odd",
        ),
        ({"document": {"columns": []}}, "document.columns"),
    ],
)
def test_a_document_that_is_none_is_refused_with_its_path(engineer, body, path):
    answer = engineer.post(f"{API}/datasets/{orders().pk}/check", body)
    assert (answer.status_code, answer.json()["error_code"]) == (422, "VALIDATION_ERROR")
    assert path in {each["field"] for each in answer.json()["errors"]}


def test_who_may_see_the_registry_may_check(engineer):
    dataset = orders()
    for role in ("viewer", "steward", "approver", "admin"):
        client = api_client(make_user(role))
        assert check(client, dataset, field("id", "bigint")).status_code == 200
    _, secret = make_api_key(make_service(), "registry:read")
    assert check(api_client(secret=secret), dataset, field("id", "bigint")).status_code == 200
    _, secret = make_api_key(make_service(), "lineage:write")
    assert check(api_client(secret=secret), dataset, field("id", "bigint")).status_code == 403
    assert check(api_client(), dataset, field("id", "bigint")).status_code == 401
    assert engineer.post(f"{API}/datasets/999999/check", {"document": {}}).json()["error_code"] == (
        "DATASET_NOT_FOUND"
    )
    assert engineer.get(f"{API}/datasets/{dataset.pk}/check").status_code == 405
    assert engineer.post(f"{API}/datasets/{dataset.pk}/check?level=FULL", {}).status_code == 422


def test_checking_takes_a_constant_number_of_statements(engineer, django_assert_max_num_queries):
    dataset = make_dataset()
    for length in range(1, 9):
        publish(dataset, *((f"c{n}", f"varchar({length})") for n in range(40)))
    promise(dataset, "FULL_TRANSITIVE")
    with django_assert_max_num_queries(14):
        answer = check(engineer, dataset, *(field(f"c{n}", "varchar(9)") for n in range(40)))
    assert {each["version"] for each in answer.json()["reasons"]} == set(range(1, 9))


def test_publishing_by_document_holds_the_level(engineer):
    dataset = orders("BACKWARD")
    refused = send(engineer, dataset, field("id", "smallint"), field("note", "varchar(20)"))
    assert (refused.status_code, refused.json()["error_code"]) == (409, "INCOMPATIBLE_SCHEMA")
    told = {(each["field"], each["code"]) for each in refused.json()["errors"]}
    assert told == {("id", "type_narrower"), ("note", "type_narrower")}
    assert "version 1" in refused.json()["errors"][0]["detail"]
    assert dataset.schemas.count() == 1
    allowed = send(engineer, dataset, field("id", "bigint"), field("note", "text"))
    assert (allowed.status_code, allowed.json()["version_num"]) == (201, 2)


def test_without_a_level_everything_may_be_published(engineer):
    dataset = orders("NONE")
    assert send(engineer, dataset, field("other", "boolean", nullable=False)).status_code == 201


def test_a_transitive_level_looks_at_every_published_version(engineer):
    dataset = make_dataset("wide")
    for length in (30, 10, 20):  # published while nothing was promised
        publish(dataset, ("a", f"varchar({length})"))
    for level, status in (("BACKWARD", 201), ("BACKWARD_TRANSITIVE", 409)):
        promise(dataset, level)
        answer = send(engineer, dataset, field("a", f"varchar({24 if status == 201 else 25})"))
        assert answer.status_code == status
    (error,) = answer.json()["errors"]
    assert (error["field"], error["code"]) == ("a", "type_narrower")
    assert "version 1" in error["detail"]
    (breaking,) = [each for each in answer.json()["reasons"] if each["severity"] == "breaking"]
    assert (breaking["version"], breaking["old"], breaking["new"]) == (1, "varchar(30)", "varchar(25)")


def test_drafts_and_what_is_refused_do_not_count_as_versions(engineer):
    dataset = orders("FULL_TRANSITIVE")
    draft = engineer.post(f"{API}/dataset-schemas", {"dataset_id": dataset.pk}).json()
    bound = {
        "dataset_schema_id": draft["id"],
        "field_id": dataset.fields.get(path="id").pk,
        "position": 1,
        "native_type": "text",
    }
    assert engineer.post(f"{API}/field-bindings", bound).status_code == 201
    refused = engineer.post(f"{API}/dataset-schemas/{draft['id']}/publish")
    assert (refused.status_code, refused.json()["error_code"]) == (409, "INCOMPATIBLE_SCHEMA")
    assert DatasetSchema.objects.get(pk=draft["id"]).status == "draft"
    same = field("id", "integer"), field("note", "varchar(40)"), field("more", "text")
    assert send(engineer, dataset, *same).status_code == 201


def test_equal_content_is_never_incompatible(engineer):
    dataset = make_dataset("wide")
    for length in (30, 10):
        publish(dataset, ("a", f"varchar({length})"))
    promise(dataset, "FULL_TRANSITIVE")
    assert send(engineer, dataset, field("a", "character varying(10)")).status_code == 200


def test_a_bulk_with_one_refused_document_publishes_none(engineer):
    one, other = make_dataset("one", compatibility="FULL"), make_dataset("other")
    publish(one, ("id", "integer"))
    items = [
        {"dataset_id": other.pk, "document": make_document(("id", "bigint"))},
        {"dataset_id": one.pk, "document": make_document(("id", "bigint"))},
    ]
    answer = engineer.post(f"{API}/dataset-schemas", {"items": items})
    assert (answer.status_code, answer.json()["error_code"]) == (409, "INCOMPATIBLE_SCHEMA")
    assert not other.schemas.exists()


def test_an_approval_overrides_the_level_and_the_log_says_so():
    dataset = orders("BACKWARD")
    document = document_of(dataset, ("id", "smallint"), ("note", "varchar(40)"))
    approval = versions.Approval(("ann@localhost", "bob@localhost"))
    publication = versions.Publication(document, dataset=dataset, approval=approval)
    published = versions.publish(publication, system=dataset.system, by=None, origin="crawl")
    assert published.created
    entry = AuditEntry.objects.filter(action="dataset.publish").first()
    assert entry.after["override"] is True
    assert entry.after["level"] == "BACKWARD"
    assert entry.after["approved_by"] == ["ann@localhost", "bob@localhost"]
    assert [each["rule"] for each in entry.after["reasons"]] == ["type_narrower"]
    assert entry.risk == "breaking"
    harmless = document_of(dataset, ("id", "bigint"), ("note", "varchar(40)"))
    again = versions.Publication(harmless, dataset=dataset, approval=approval)
    versions.publish(again, system=dataset.system, by=None, origin="crawl")
    assert "override" not in AuditEntry.objects.filter(action="dataset.publish").first().after


def test_holding_levels_takes_three_statements_however_many_datasets_there_are():
    system = make_system()
    needed = {}
    for level, size in (("NONE", 1), ("NONE", 2), ("BACKWARD", 2), ("FULL_TRANSITIVE", 6)):
        datasets = [make_dataset(system=system, compatibility=level) for _ in range(size)]
        for dataset in datasets:
            publish(dataset, ("id", "integer"))
        publications = [
            versions.Publication(document_of(each, ("id", "integer"), ("more", "text")), dataset=each)
            for each in Dataset.objects.filter(pk__in=[each.pk for each in datasets])
        ]
        with CaptureQueriesContext(connection) as caught:
            versions.publish_many(publications, system=system, by=None, origin="api")
        needed[level] = len(caught)
    assert needed["BACKWARD"] == needed["NONE"] + 3
    assert needed["FULL_TRANSITIVE"] == needed["NONE"] + 4
