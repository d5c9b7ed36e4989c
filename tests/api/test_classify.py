"""`POST /pii/classify`: what columns may hold, with the rules in force."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from registry.models import FieldTag, PIIRule, PIITag
from registry.pii import default_rules
from tests.factories import api_client, make_user

pytestmark = pytest.mark.django_db
URL = "/api/v1/pii/classify"


@pytest.fixture
def viewer() -> Any:
    return api_client(make_user("viewer"))


def test_columns_are_answered_in_their_order(viewer: Any) -> None:
    columns = [
        {"table": "customers", "column": "email", "type": "varchar(80)", "comment": ""},
        {"table": "customers", "column": "email_verified", "type": "boolean", "comment": None},
        {"column": "iban"},
    ]
    answer = viewer.post(URL, {"columns": columns})
    assert answer.status_code == 200, answer.content
    first, second, third = answer.json()["items"]
    assert second == {"tags": []}
    assert [each["tag"] for each in (*first["tags"], *third["tags"])] == ["email", "financial"]
    assert set(first["tags"][0]) == {"tag", "confidence", "rule", "rule_version", "evidence", "name_only"}
    assert (first["tags"][0]["name_only"], third["tags"][0]["name_only"]) == (False, True)
    assert not FieldTag.objects.exists()


def test_every_tag_it_names_is_in_the_vocabulary() -> None:
    vocabulary = import_module("registry.migrations.0002_pii_vocabulary").VOCABULARY
    assert {rule.tag for rule in default_rules().rules} <= {code for code, *_ in vocabulary}


def test_rules_of_admins_count(viewer: Any) -> None:
    PIIRule.objects.create(code="email.address", is_active=False)
    tag, _ = PIITag.objects.get_or_create(
        code="identifier", defaults={"name": "Identifier", "sensitivity": 2}
    )
    PIIRule.objects.create(code="own.badge", tag=tag, words=["turnstile chip"])
    answer = viewer.post(URL, {"columns": [{"column": "email"}, {"column": "turnstile_chip"}]})
    assert [[each["rule"] for each in item["tags"]] for item in answer.json()["items"]] == [[], ["own.badge"]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "columns"),
        ({"columns": None}, "columns"),
        ({"columns": {"column": "email"}}, "columns"),
        ({"columns": ["email"]}, "columns.0"),
        ({"columns": [{"column": "email"}, {"table": "t"}]}, "columns.1.column"),
        ({"columns": [{"column": 7}]}, "columns.0.column"),
        ({"columns": [{"column": "x" * 1_001}]}, "columns.0.column"),
        ({"columns": [{"column": "email", "type": ["text"]}]}, "columns.0.type"),
    ],
)
def test_other_bodies_are_refused(viewer: Any, body: Any, field: str) -> None:
    answer = viewer.post(URL, body)
    assert answer.status_code == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]


def test_ten_thousand_columns_are_answered_and_one_more_is_refused(
    viewer: Any, django_assert_max_num_queries: Any
) -> None:
    columns = [{"table": f"t{n // 20}", "column": f"c{n % 20}"} for n in range(10_000)]
    with django_assert_max_num_queries(10):
        assert len(viewer.post(URL, {"columns": columns}).json()["items"]) == 10_000
    refused = viewer.post(URL, {"columns": [*columns, {"column": "email"}]})
    assert (refused.status_code, refused.json()["error_code"]) == (422, "VALIDATION_ERROR")


def test_nothing_asked_is_nothing_answered(viewer: Any) -> None:
    assert viewer.post(URL, {"columns": []}).json() == {"items": []}
