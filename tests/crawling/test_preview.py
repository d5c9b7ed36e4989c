"""What a crawl of a scope would read: told before a plan is saved, by API and form, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crawling.models import CrawlPlan, CrawlRun
from tests.factories import make_user
from tests.flows.desk import API, Desk, contents, ok
from tests.flows.sources import Source, sqlite_source

TABLES = ";".join(f"CREATE TABLE t{n:02} (id integer NOT NULL PRIMARY KEY, a text)" for n in range(60))


@pytest.fixture
def source(tmp_path: Path, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "previewed.sqlite3")
    source.execute(TABLES)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    return Desk(source.system())


def _preview(desk: Desk, **scope: Any) -> dict[str, Any]:
    body = {"system": desk.system.code, "scope": scope}
    found: dict[str, Any] = ok(desk.by_engineer.post(f"{API}/crawl-plans/preview", body, format="json"))
    return found


def test_it_tells_what_is_in_the_scope_and_writes_nothing(desk: Desk, source: Source) -> None:
    before = contents()
    found = _preview(desk)
    assert (found["ok"], found["total"], len(found["datasets"])) == (True, 60, 50)
    assert found["sentence"] == "A crawl of this scope would read 60 tables and views in 1 schema."
    assert found["schemas"] == [{"name": "main", "status": "listed", "reason": "", "datasets": 60}]
    some = _preview(desk, tables=["t0*"], exclude_tables=["t00"])
    assert [each["name"] for each in some["datasets"]] == [f"main.t0{n}" for n in range(1, 10)]
    assert some["datasets"][0] == {
        "name": "main.t01", "object_kind": "table", "fields_count": 2, "is_known": False,
    }  # fmt: skip
    assert _preview(desk, tables=["nothing*"])["sentence"] == "A crawl of this scope would read nothing."
    assert contents() == before
    assert CrawlRun.objects.count() == 0


def test_it_tells_what_the_registry_has_and_the_source_does_not_show(desk: Desk, source: Source) -> None:
    desk.approve_all(desk.crawl(config={"tables": ["t0*"]}))
    source.execute("DROP TABLE t03; CREATE VIEW broken AS SELECT * FROM absent")
    found = _preview(desk, tables=["t0*", "broken"])
    assert (found["not_seen"], found["not_seen_total"]) == (["main.t03"], 1)
    assert [each["is_known"] for each in found["datasets"]][:3] == [True, True, True]
    assert [each["object"] for each in found["problems"]] == ["main.broken"]
    assert _preview(desk, tables=["t05"])["not_seen"] == [], "what is outside of the scope is not missed"


def test_trouble_and_bad_scopes_are_told_in_words(desk: Desk, source: Source) -> None:
    client = desk.by_engineer
    for body, field in (
        ({"scope": {"tables": ["a.b.c"]}}, "scope"),
        ({"scope": {"colour": []}}, "scope"),
        ({"other": 1}, "other"),
    ):
        answer = client.post(
            f"{API}/crawl-plans/preview", {"system": desk.system.code, **body}, format="json"
        )
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"].startswith(field)
    Path(source.url.removeprefix("sqlite:///")).unlink()
    found = _preview(desk)
    assert (found["ok"], found["datasets"]) == (False, [])
    assert "There is no file" in found["sentence"]


def test_the_form_of_a_schedule_shows_it_before_it_is_saved(desk: Desk, source: Source) -> None:
    client = Client()
    client.force_login(desk.engineer)
    url = reverse("admin:crawling_plan_preview")
    assert url in client.get(reverse("admin:crawling_crawlplan_add")).content.decode()
    values = {"system": desk.system.pk, "tables": "t0*\nt1*", "exclude_tables": "t00"}
    part = client.post(url, values, headers={"HX-Request": "true"}).content.decode()
    assert "would read 19 tables and views in 1 schema" in part
    assert "<html" not in part
    whole = client.post(url, values).content.decode()
    assert "would read 19 tables" in whole
    assert "<html" in whole
    assert "Choose a system first" in client.post(url, {"system": ""}).content.decode()
    assert "3 parts" in client.post(url, {**values, "tables": "a.b.c"}).content.decode()
    assert client.get(url).status_code == 403
    assert CrawlPlan.objects.count() == 0
    viewer = Client()
    viewer.force_login(make_user("viewer"))
    assert viewer.post(url, values).status_code == 403
