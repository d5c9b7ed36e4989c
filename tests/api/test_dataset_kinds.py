"""The five kinds over the API: each with its own location, a version written piece by piece, its kind for ever."""

from __future__ import annotations

from typing import Any

import pytest

from registry.models import Dataset
from tests.factories import api_client, make_system, make_user

pytestmark = pytest.mark.django_db

# kind: flavor, location, the name that follows, object kind, a type, something that its location cannot hold
KINDS: dict[str, tuple[str, dict[str, Any], str, str, str, dict[str, Any]]] = {
    "rdbms": (
        "postgresql", {"database": "crm", "schema": "public", "table": "orders"}, "public.orders", "table", "bigint",
        {"topic": "x"},
    ),
    "kafka": (
        "kafka_avro",
        {"topic": "shop.orders", "format": "avro", "partitions": 12, "retention_ms": -1, "key_fields": ["id"]},
        "shop.orders", "topic", "long", {"partitions": "12"},
    ),
    "storage": (
        "parquet",
        {"bucket": "lake", "path": "/orders/", "file_format": "parquet", "compression": "zstd",
         "partition_by": ["day"]},
        "lake/orders", "file", "string", {"partition_by": "day"},
    ),
    "sftp": (
        "csv",
        {"path": "/out", "pattern": "orders_*.csv", "file_format": "csv", "delimiter": ";", "encoding": "utf-8",
         "header": True, "compression": "gzip"},
        "/out/orders_*.csv", "file", "string", {"header": "yes"},
    ),
    "hive": (
        "hive",
        {"catalog_uri": "thrift://meta:9083", "database": "core", "table": "orders", "file_format": "orc",
         "is_external": True, "location": "s3://lake/orders", "partition_columns": ["day"]},
        "core.orders", "table", "string", {"is_external": 1},
    ),
}  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def engineer() -> Any:
    return api_client(make_user("engineer"))


def create(client: Any, kind: str, **values: Any) -> Any:
    flavor, location, *_ = KINDS[kind]
    system = make_system(f"sys-{kind}", flavor=flavor)
    body = {"system": system.code, "kind": kind, "location": location, **values}
    return client.post("/api/v1/datasets", body, format="json")


@kinds
def test_a_dataset_gets_its_name_and_object_kind_from_what_it_is(engineer: Any, kind: str) -> None:
    _, location, name, object_kind, *_ = KINDS[kind]
    answer = create(engineer, kind)
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["kind"], made["name"], made["object_kind"]) == (kind, name, object_kind)
    assert made["location"] == location


@kinds
def test_a_location_holds_the_keys_of_its_kind_only(engineer: Any, kind: str) -> None:
    _, location, *_, wrong = KINDS[kind]
    answer = create(engineer, kind, location=location | wrong)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == f"location.{next(iter(wrong))}"
    for other, (_, foreign, *_rest) in KINDS.items():
        if other != kind:
            code = Dataset.objects.count()
            assert create_again(engineer, kind, foreign).status_code == 422
            assert Dataset.objects.count() == code


def create_again(client: Any, kind: str, location: dict[str, Any]) -> Any:
    body = {"system": f"sys-{kind}", "kind": kind, "location": location}
    return client.post("/api/v1/datasets", body, format="json")


@kinds
def test_a_kind_never_changes(engineer: Any, kind: str) -> None:
    made = create(engineer, kind).json()
    other = next(each for each in KINDS if each != kind)
    path = f"/api/v1/datasets/{made['id']}"
    for method in (engineer.patch, engineer.put):
        body = {"system": made["system"], "kind": other, "location": KINDS[other][1]}
        answer = method(path, body, format="json")
        assert answer.status_code == 422
        assert "kind" in {each["field"] for each in answer.json()["errors"]}
    assert engineer.get(path).json()["kind"] == kind


@kinds
def test_a_location_is_edited_and_the_name_follows(engineer: Any, kind: str) -> None:
    made = create(engineer, kind).json()
    path = f"/api/v1/datasets/{made['id']}"
    key = {"rdbms": "table", "kafka": "topic", "storage": "bucket", "sftp": "path", "hive": "table"}[kind]
    location = made["location"] | {key: "moved"}
    answer = engineer.patch(path, {"location": location, "row_version": made["row_version"]}, format="json")
    assert answer.status_code == 200, answer.content
    assert answer.json()["location"] == location
    assert "moved" in answer.json()["name"]
    stale = engineer.patch(path, {"location": location, "row_version": made["row_version"]}, format="json")
    assert (stale.status_code, stale.json()["error_code"]) == (409, "VERSION_CONFLICT")


@kinds
def test_a_draft_is_written_piece_by_piece_and_published(engineer: Any, kind: str) -> None:
    *_, object_kind, native, _wrong = KINDS[kind]
    dataset = create(engineer, kind).json()["id"]
    draft = engineer.post("/api/v1/dataset-schemas", {"dataset_id": dataset}, format="json").json()
    for position, name in enumerate(("id", "note"), 1):
        field = engineer.post("/api/v1/fields", {"dataset_id": dataset, "name": name}, format="json").json()
        answer = engineer.post(
            "/api/v1/field-bindings",
            {
                "dataset_schema_id": draft["id"],
                "field_id": field["id"],
                "position": position,
                "native_type": native,
            },
            format="json",
        )
        assert answer.status_code == 201, answer.content
    published = engineer.post(f"/api/v1/dataset-schemas/{draft['id']}/publish")
    assert (published.status_code, published.json()["status"]) == (200, "published"), published.content
    document = engineer.get(f"/api/v1/datasets/{dataset}/schema").json()
    assert document["kind"] == object_kind
    assert [each["data_type"] is not None for each in document["fields"]] == [True, True]
    assert engineer.get(f"/api/v1/datasets/{dataset}").json()["object_kind"] == object_kind


@kinds
def test_a_whole_document_may_leave_out_what_the_dataset_knows(engineer: Any, kind: str) -> None:
    *_, object_kind, native, _wrong = KINDS[kind]
    dataset = create(engineer, kind).json()["id"]
    document = {"fields": [{"name": "id", "native_type": native}]}
    body = {"dataset_id": dataset, "document": document}
    first = engineer.post("/api/v1/dataset-schemas", body, format="json")
    assert first.status_code == 201, first.content
    served = engineer.get(f"/api/v1/datasets/{dataset}/schema").json()
    assert served["kind"] == object_kind
    body = {"dataset_id": dataset, "document": served}
    again = engineer.post("/api/v1/dataset-schemas", body, format="json")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


@pytest.mark.parametrize(
    ("kind", "positional"), [("sftp", True), ("kafka", False), ("hive", False), ("rdbms", False)]
)
def test_the_order_of_fields_is_content_where_readers_count_them(
    engineer: Any, kind: str, positional: bool
) -> None:
    native = KINDS[kind][4]
    dataset = create(engineer, kind).json()["id"]
    versions = []
    for names in (("a", "b"), ("b", "a")):
        document = {"fields": [{"name": name, "native_type": native} for name in names]}
        answer = engineer.post(
            "/api/v1/dataset-schemas", {"dataset_id": dataset, "document": document}, format="json"
        )
        versions.append(answer.json()["version_num"])
    assert versions == ([1, 2] if positional else [1, 1])


def test_csv_in_an_object_store_is_positional_too(engineer: Any) -> None:
    location = {"bucket": "lake", "path": "in", "file_format": "csv"}
    dataset = create(engineer, "storage", location=location).json()["id"]
    for number, names in enumerate((("a", "b"), ("b", "a")), 1):
        document = {"fields": [{"name": name, "native_type": "string"} for name in names]}
        body = {"dataset_id": dataset, "document": document}
        assert engineer.post("/api/v1/dataset-schemas", body, format="json").json()["version_num"] == number


def test_fields_of_a_message_are_nested(engineer: Any) -> None:
    dataset = create(engineer, "kafka").json()["id"]
    document = {
        "fields": [
            {"name": "id", "native_type": "long"},
            {"name": "buyer", "native_type": "record", "fields": [
                {"name": "email", "native_type": "string"},
                {"name": "home", "native_type": "record", "fields": [{"name": "city", "native_type": "string"}]},
            ]},
        ]
    }  # fmt: skip
    body = {"dataset_id": dataset, "document": document}
    assert engineer.post("/api/v1/dataset-schemas", body, format="json").status_code == 201
    paths = {row["path"] for row in engineer.get(f"/api/v1/fields?dataset_id={dataset}").json()["items"]}
    assert paths == {"id", "buyer", "buyer.email", "buyer.home", "buyer.home.city"}
