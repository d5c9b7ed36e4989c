"""A review's word counts for more than a dataset's level of compatibility, and the audit log says so."""

from __future__ import annotations

from typing import Any

import pytest

from aide.audit.models import AuditEntry
from registry.models import Dataset
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50) NOT NULL, colour varchar(20));
"""
DROP = "ALTER TABLE parts DROP name; ALTER TABLE parts ADD label text;"
ADD = "ALTER TABLE parts ADD label text;"


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    """A dataset that promises FULL_TRANSITIVE."""
    desk = Desk(source.system())
    desk.decide(desk.crawl(), approve="all")
    Dataset.objects.update(compatibility="FULL_TRANSITIVE")
    return desk


def published() -> dict[str, Any]:
    return AuditEntry.objects.filter(action="dataset.publish").first().after


def test_a_breaking_change_that_two_people_approved_is_the_override(desk: Desk, source: Source) -> None:
    source.execute(DROP)
    run = desk.crawl()
    first = desk.decide(run, approve="all")
    assert len(first["waiting"]) == 1
    assert "override" not in published()
    second = desk.decide(run, desk.by_approver, approve="all")
    assert second["failed"] == []
    assert published()["override"] is True
    assert published()["level"] == "FULL_TRANSITIVE"
    assert published()["approved_by"] == sorted([desk.steward.email, desk.approver.email])
    assert {(each["field"], each["rule"]) for each in published()["reasons"]} == {("name", "field_dropped")}


def test_what_the_level_allows_is_no_override(desk: Desk, source: Source) -> None:
    source.execute(ADD)
    outcome = desk.decide(desk.crawl(), approve="all")
    assert len(outcome["applied"]) == 1
    assert "override" not in published()


def test_the_same_change_by_document_is_refused(desk: Desk) -> None:
    dataset = desk.dataset("main.parts")
    document = {
        "fields": [
            {"name": "id", "native_type": "integer", "nullable": False},
            {"name": "colour", "native_type": "varchar(20)"},
        ],
        "primary_key": {"columns": ["id"]},
    }
    body = {"dataset_id": dataset["id"], "document": document}
    answer = desk.by_engineer.post(f"{API}/dataset-schemas", body, format="json")
    assert (answer.status_code, answer.json()["error_code"]) == (409, "INCOMPATIBLE_SCHEMA")
    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [("name", "field_dropped")]
    check = desk.by_steward.post(
        f"{API}/datasets/{dataset['id']}/check", {"document": document}, format="json"
    )
    assert check.json()["compatible"] is False
