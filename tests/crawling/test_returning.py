"""Tables that come back after they were retired or deleted, and names that retired ones leave to others."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from aide.audit.models import AuditEntry
from crawling.models import Change
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.flows.desk import API, Desk, ok
from tests.flows.sources import Source, sqlite_source

PEOPLE = "CREATE TABLE people (id integer NOT NULL PRIMARY KEY, email varchar(50), age integer);"
OTHER = "CREATE TABLE peoples (id integer NOT NULL PRIMARY KEY, label varchar(20), weight numeric(10,2));"


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "people.sqlite3")
    source.execute(PEOPLE + OTHER)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    desk = Desk(source.system())
    desk.decide(desk.crawl(), approve="all")
    return desk


def _remove(desk: Desk, how: str) -> int:
    pk = Dataset.objects.get(name="main.people").pk
    Dataset.objects.filter(pk=pk).update(description="Whom we know")
    if how == "deleted":
        answer = desk.by_engineer.delete(f"{API}/datasets/{pk}")
    else:
        answer = desk.by_engineer.patch(f"{API}/datasets/{pk}", {"status": "retired"}, format="json")
    assert answer.status_code < 300, answer.content
    return pk


@pytest.mark.parametrize("how", ["retired", "deleted"])
def test_what_comes_back_differently_needs_two_people(source: Source, desk: Desk, how: str) -> None:
    tag, _ = PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail", "sensitivity": 2})
    now = timezone.now()
    field = Field.objects.get(dataset__name="main.people", path="email")
    FieldTag.objects.create(
        field=field, tag=tag, state="confirmed", decided_by=desk.steward, decided_at=now, since=now
    )
    pk = _remove(desk, how)
    source.execute("ALTER TABLE people DROP email;")
    run = desk.crawl()
    (change,) = desk.changes()
    assert (change["op"], change["risk"]) == ("add_dataset", "breaking")
    assert change["why"].startswith("It comes back differently: 1 breaking change, email: ")
    assert Change.objects.get(pk=change["id"]).touches_pii
    first = desk.decide(run, approve="all")
    assert (len(first["waiting"]), first["applied"]) == (1, [])
    second = desk.decide(run, desk.by_approver, approve="all")
    assert (second["applied"][0]["dataset_id"], second["applied"][0]["version_num"]) == (pk, 2)
    row = Dataset.objects.get(name="main.people")
    assert (row.pk, row.status, row.description, row.deleted_at) == (pk, "active", "Whom we know", None)


@pytest.mark.parametrize("how", ["retired", "deleted"])
def test_what_comes_back_the_same_is_safe_and_is_the_old_dataset(desk: Desk, how: str) -> None:
    pk = _remove(desk, how)
    run = desk.crawl()
    (change,) = desk.changes()
    assert (change["op"], change["risk"]) == ("add_dataset", "safe")
    assert desk.decide(run, approve="all")["applied"][0]["dataset_id"] == pk
    row = Dataset.objects.get(name="main.people")
    assert (row.pk, row.status, row.description, row.deleted_at) == (pk, "active", "Whom we know", None)
    assert AuditEntry.objects.filter(action="dataset.restore", dataset_id=pk).count() == (how == "deleted")


def test_a_retired_dataset_gives_its_name_to_a_renamed_one(source: Source, desk: Desk) -> None:
    source.execute("DROP TABLE people;")
    desk.approve_all(desk.crawl())
    old = Dataset.objects.get(name="main.people")
    bins = Dataset.objects.get(name="main.peoples")
    source.execute("ALTER TABLE peoples RENAME TO people;")
    run = desk.crawl()
    assert [(each["op"], each["path"]["dataset"]) for each in desk.changes()] == [
        ("rename_dataset", "main.peoples")
    ]
    outcome = desk.approve_all(run)
    assert (outcome["failed"], outcome["applied"][0]["dataset_id"]) == ([], bins.pk)
    location = old.location
    old.refresh_from_db()
    assert (old.name, old.location) == (f"main.people (retired {old.pk})", location)
    assert Dataset.objects.get(name="main.people").pk == bins.pk
    entry = AuditEntry.objects.get(action="dataset.update", dataset_id=old.pk)
    assert entry.reason == "Another dataset has its name now."
    desk.crawl()
    assert desk.proposals() == []


def test_the_place_of_a_published_dataset_is_not_written(desk: Desk) -> None:
    row = Dataset.objects.get(name="main.people")
    address = f"{API}/datasets/{row.pk}"
    moved = {**row.location, "table": "persons"}
    for body in ({"name": "main.persons"}, {"location": moved}, {"object_kind": "view"}):
        answer = desk.by_engineer.patch(address, body, format="json")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "IMMUTABLE"), body
    same = {"name": row.name, "location": row.location, "object_kind": row.object_kind}
    assert ok(desk.by_engineer.patch(address, same, format="json"))["name"] == "main.people"
