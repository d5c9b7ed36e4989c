"""Casts over the API: rules go before what is derived, safety is the instance's, and plans come with their DDL."""

from __future__ import annotations

from typing import Any

import pytest

from registry.models import CastRule, DataType
from tests.factories import api_client, make_dataset, make_flavor, make_system, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer() -> Any:
    return api_client(make_user("engineer"))


@pytest.fixture
def flavors() -> None:
    for code in ("postgresql", "hive", "kafka_avro"):
        make_flavor(code)


def type_id(flavor: str, code: str) -> int:
    return DataType.objects.get(flavor__code=flavor, code=code).pk


def make_rule(client: Any, source: str, target: str, **values: Any) -> Any:
    body = {
        "source_data_type_id": type_id("postgresql", source),
        "target_data_type_id": type_id("hive", target),
        "safety": "lossless",
        **values,
    }
    return client.post("/api/v1/cast-rules", body)


def cast(client: Any, *types: str, to: str = "hive") -> list[dict[str, Any]]:
    answer = client.post(
        "/api/v1/casts", {"from_flavor": "postgresql", "to_flavor": to, "types": list(types)}
    )
    assert answer.status_code == 200, answer.content
    return answer.json()["items"]


def test_types_are_cast_one_by_one(flavors: None, engineer: Any) -> None:
    found = cast(engineer, "numeric(12,2)", "int4", "inet", "box2d")
    assert [(each["rendered"], each["safety"]) for each in found] == [
        ("decimal(12,2)", "lossless"), ("int", "lossless"), (None, "none"), (None, "none"),
    ]  # fmt: skip
    assert [each["type"] for each in found] == ["numeric(12,2)", "int4", "inet", "box2d"]
    assert all(each["why"] for each in found)


def test_many_long_types_at_once_are_refused(flavors: None, engineer: Any) -> None:
    long = "varchar(" + "1" * 4_900 + ")"
    answer = engineer.post(
        "/api/v1/casts", {"from_flavor": "postgresql", "to_flavor": "hive", "types": [long] * 30}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "types"
    assert [each["type"] for each in cast(engineer, *["integer", "text"] * 500)] == ["integer", "text"] * 500


def test_a_rule_goes_before_what_is_derived_and_is_judged_for_each_instance(
    flavors: None, engineer: Any
) -> None:
    made = make_rule(engineer, "numeric", "decimal", param_mapping={"precision": 10, "scale": "@scale"})
    assert made.status_code == 201, made.content
    narrow, exact, plain = cast(engineer, "numeric(12,2)", "numeric(10,2)", "numeric")
    assert (narrow["rendered"], narrow["safety"]) == ("decimal(10,2)", "lossy")
    assert "8 digits before the point" in narrow["why"]
    assert (exact["rendered"], exact["safety"]) == ("decimal(10,2)", "lossless")
    assert (plain["rendered"], plain["safety"]) == ("decimal(10,0)", "lossy")


def test_a_rule_gives_a_cast_where_none_is_derived(flavors: None, engineer: Any) -> None:
    assert make_rule(engineer, "inet", "string", template="host({{ column }})").status_code == 201
    (found,) = cast(engineer, "inet")
    assert (found["rendered"], found["safety"]) == ("string", "lossless")
    dataset = make_dataset(system=make_system("shop"))
    publish(dataset, ("ip", "inet"))
    plan = engineer.get(f"/api/v1/datasets/{dataset.pk}/cast-plan?to=hive").json()
    assert plan["fields"][0]["using"] == "host(ip)"


def test_a_rule_that_cannot_be_followed_says_so_and_another_cast_is_derived(
    flavors: None, engineer: Any
) -> None:
    make_rule(engineer, "varchar", "varchar", param_mapping={"length": "@length"})
    fits, missing = cast(engineer, "varchar(20)", "varchar")
    assert fits["rendered"] == "varchar(20)"
    assert missing["rendered"] == "string"
    assert missing["why"].startswith("The rule to varchar cannot be followed: length is required")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"param_mapping": {"length": 3}}, "param_mapping"),
        ({"param_mapping": {"precision": "@length"}}, "param_mapping"),
        ({"param_mapping": {"precision": 99}}, "param_mapping"),
        ({"template": "{{ x"}, "template"),
        ({"safety": "none"}, "safety"),
        ({"source_data_type_id": 10**15}, "source_data_type_id"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(flavors: None, engineer: Any, values: Any, field: str) -> None:
    answer = make_rule(engineer, "numeric", "decimal", **values)
    assert answer.status_code == 422
    assert field in {error["field"] for error in answer.json()["errors"]}


def test_the_life_of_a_rule(flavors: None, engineer: Any) -> None:
    made = make_rule(engineer, "numeric", "decimal").json()
    assert made["row_version"] == 1
    assert make_rule(engineer, "numeric", "decimal").json()["error_code"] == "CAST_RULE_ALREADY_EXISTS"
    path = f"/api/v1/cast-rules/{made['id']}"
    assert engineer.patch(path, {"safety": "lossy"}).json()["safety"] == "lossy"
    listed = engineer.get(
        "/api/v1/cast-rules?source_flavor=postgresql&target_flavor=hive&safety=lossy"
    ).json()
    assert [each["id"] for each in listed["items"]] == [made["id"]]
    blocked = api_client(make_user("admin")).delete(f"/api/v1/data-types/{made['source_data_type_id']}")
    assert blocked.json()["error_code"] == "HAS_DEPENDENT_ENTITIES"
    assert engineer.delete(path).status_code == 204
    assert engineer.get(path).json()["error_code"] == "CAST_RULE_NOT_FOUND"
    assert cast(engineer, "numeric(12,2)")[0]["safety"] == "lossless"
    assert make_rule(engineer, "numeric", "decimal").status_code == 201
    assert engineer.post(f"{path}/restore").status_code == 409
    assert CastRule.objects.alive().count() == 1


def test_a_viewer_reads_rules_and_casts_and_writes_none(flavors: None) -> None:
    viewer = api_client(make_user("viewer"))
    assert viewer.get("/api/v1/cast-rules").status_code == 200
    assert cast(viewer, "text")[0]["rendered"] == "string"
    assert make_rule(viewer, "numeric", "decimal").status_code == 403
    assert api_client().post("/api/v1/casts", {}).status_code == 401


def test_a_dataset_is_planned_with_its_ddl(flavors: None, engineer: Any) -> None:
    dataset = make_dataset("orders", system=make_system("shop"), description="All orders")
    publish(
        dataset, ("id", "bigint"), ("total", "numeric(12,2)"), ("ip", "inet"),
        primary_key={"name": None, "columns": ["id"]},
    )  # fmt: skip
    answer = engineer.get(f"/api/v1/datasets/{dataset.pk}/cast-plan?to=hive")
    assert answer.status_code == 200, answer.content
    plan = answer.json()
    assert [(f["name"], f["from"], f["to"], f["safety"]) for f in plan["fields"]] == [
        ("id", "bigint", "bigint", "lossless"), ("total", "numeric(12,2)", "decimal(12,2)", "lossless"),
        ("ip", "inet", None, "none"),
    ]  # fmt: skip
    assert "CREATE TABLE `public`.`orders`" in plan["ddl"]
    assert "COMMENT 'All orders'" in plan["ddl"]
    assert "-- ip inet: Hive has no type for network addresses" in plan["ddl"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?to=hive", 404, "DATASET_SCHEMA_NOT_FOUND"),
        ("", 422, "VALIDATION_ERROR"),
        ("?to=nowhere", 422, "VALIDATION_ERROR"),
        ("?to=hive&x=1", 422, "VALIDATION_ERROR"),
    ],
)
def test_a_plan_that_cannot_be_made_says_why(
    flavors: None, engineer: Any, query: str, status: int, code: str
) -> None:
    dataset = make_dataset(system=make_system("shop"))
    for slash in ("", "/"):
        answer = engineer.get(f"/api/v1/datasets/{dataset.pk}/cast-plan{slash}{query}")
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    missing = engineer.get(f"/api/v1/datasets/{10**30}/cast-plan?to=hive")
    assert (missing.status_code, missing.json()["error_code"]) == (404, "DATASET_NOT_FOUND")


def test_the_number_of_queries_does_not_grow_with_the_types(
    flavors: None, engineer: Any, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        cast(engineer, *["numeric(12,2)"] * 200)
