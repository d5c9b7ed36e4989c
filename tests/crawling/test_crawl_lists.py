"""Lists of runs and proposals: found by what they are about, in a constant number of statements."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crawling.api import proposals
from crawling.models import CrawlPlan
from tests.flows.desk import API, Desk, ok
from tests.flows.sources import Source, make_system, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50) NOT NULL, weight numeric(6,2));
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer REFERENCES parts (id));
CREATE VIEW heavy AS SELECT id, name FROM parts WHERE weight > 10;
"""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    return Desk(source.system())


def test_unknown_things_are_404_and_unknown_parameters_422(desk: Desk) -> None:
    for path, code in (
        ("crawl-runs/999", "CRAWL_RUN_NOT_FOUND"),
        ("crawl-runs/x", "CRAWL_RUN_NOT_FOUND"),
        ("proposals/999", "PROPOSAL_NOT_FOUND"),
        ("crawl-plans/999", "CRAWL_PLAN_NOT_FOUND"),
        ("crawl-runs/999/report", "CRAWL_RUN_NOT_FOUND"),
    ):
        answer = desk.by_engineer.get(f"{API}/{path}")
        assert (answer.status_code, answer.json()["error_code"]) == (404, code)
    for query in ("?colour=red", "?sort=colour", "?status=fine", "?page=0", "?system__gte=1"):
        for path in ("crawl-runs", "proposals"):
            assert desk.by_engineer.get(f"{API}/{path}{query}").status_code == 422, (path, query)


def test_proposals_are_found_by_what_they_are_about(desk: Desk) -> None:
    run = desk.crawl()
    desk.decide(run, approve="all")
    parts = desk.dataset("main.parts")["id"]
    by = desk.by_steward
    assert ok(by.get(f"{API}/proposals", {"dataset_id": parts}))["total"] == 1
    assert ok(by.get(f"{API}/proposals", {"crawl_run_id": run["id"]}))["total"] == 3
    assert ok(by.get(f"{API}/proposals", {"status": "open"}))["total"] == 0
    assert ok(by.get(f"{API}/proposals", {"origin": "crawl", "system": desk.system.code}))["total"] == 3
    assert ok(by.get(f"{API}/proposals", {"origin": "contract"}))["total"] == 0
    (change,) = ok(by.get(f"{API}/proposals", {"dataset_id": parts}))["items"][0]["changes"]
    assert set(change) >= {"id", "op", "path", "before", "after", "risk", "why", "requires", "decision"}
    assert (change["op"], change["before"], change["path"]) == (
        "add_dataset",
        None,
        {"dataset": "main.parts", "field": None},
    )
    assert change["after"]["name"] == "parts"
    assert set(change["decision"]) == {"state", "by", "at", "reason", "second_by"}


def test_a_page_of_very_many_changes_shows_the_first_of_each(
    desk: Desk, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.approve_all(desk.crawl())
    source.execute(";".join(f"ALTER TABLE {t} ADD more{n} text" for t in ("parts", "bins") for n in range(6)))
    desk.crawl()

    def shown() -> list[tuple[int, int]]:
        return [(each["changes_total"], len(each["changes"])) for each in desk.proposals()]

    assert shown() == [(6, 6), (6, 6)]
    monkeypatch.setattr(proposals, "FIRST_CHANGES", 4)
    monkeypatch.setattr(proposals, "MOST_CHANGES", 12)
    assert shown() == [(6, 6), (6, 6)]
    monkeypatch.setattr(proposals, "MOST_CHANGES", 11)
    assert shown() == [(6, 4), (6, 4)]
    first = desk.proposals()[0]
    assert [each["path"]["field"] for each in first["changes"]] == [f"more{n}" for n in range(4)]
    whole = ok(desk.by_steward.get(f"{API}/proposals/{first['id']}"))
    assert (whole["changes_total"], len(whole["changes"])) == (6, 6)


def test_lists_take_a_constant_number_of_statements(desk: Desk, source: Source) -> None:
    desk.crawl()
    client = desk.by_steward

    def statements(path: str) -> int:
        client.get(f"{API}/{path}")
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"{API}/{path}").status_code == 200
        return len(captured)

    paths = ("proposals?size=500", "crawl-runs?size=500", "crawl-plans?size=500")
    CrawlPlan.objects.create(system=desk.system, cron="0 2 * * *")
    few = [statements(path) for path in paths]
    source.execute(";".join(f"CREATE TABLE more{n} (id integer, a text, b text)" for n in range(30)))
    desk.crawl()
    for number in range(20):
        CrawlPlan.objects.create(system=make_system("sqlite", code=f"more{number}"), cron="0 2 * * *")
    many = [statements(path) for path in paths]
    assert few == many
    assert max(many) <= 12, dict(zip(paths, many, strict=True))
