"""Schedules over the API, and what they start."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aide.work.runner import drain
from crawling import plans
from crawling.models import CrawlPlan, CrawlRun
from tests.flows.desk import API, Desk, ok
from tests.flows.sources import Source, sqlite_source

SOURCE = """
CREATE TABLE parts (id integer NOT NULL PRIMARY KEY, name varchar(50) NOT NULL, weight numeric(6,2));
CREATE TABLE bins (id integer NOT NULL PRIMARY KEY, part_id integer REFERENCES parts (id));
"""


@pytest.fixture
def source(tmp_path: Any, type_catalogues: None) -> Source:
    source = sqlite_source(tmp_path / "parts.sqlite3")
    source.execute(SOURCE)
    return source


@pytest.fixture
def desk(source: Source) -> Desk:
    return Desk(source.system())


def test_a_schedule_is_made_changed_and_deleted(desk: Desk) -> None:
    body = {"system": desk.system.code, "cron": "30 2 * * 1-5", "time_zone": "Europe/Berlin"}
    made = desk.by_engineer.post(f"{API}/crawl-plans", body, format="json")
    assert made.status_code == 201, made.content
    plan = made.json()
    assert plan["auto_approve"] == []
    assert plan["next_due_at"] > timezone.now().isoformat()
    path = f"{API}/crawl-plans/{plan['id']}"
    changed = desk.by_engineer.patch(path, {"is_active": False, "auto_approve": ["safe"]}, format="json")
    assert (changed.status_code, changed.json()["next_due_at"]) == (200, None)
    stale = desk.by_engineer.patch(
        path, {"cron": "0 3 * * *", "row_version": plan["row_version"]}, format="json"
    )
    assert (stale.status_code, stale.json()["error_code"]) == (409, "VERSION_CONFLICT")
    whole = desk.by_engineer.put(path, {**body, "scope": {"tables": ["parts"]}}, format="json")
    assert whole.status_code == 200
    assert whole.json()["scope"]["tables"] == ["parts"]
    assert desk.by_steward.patch(path, {"cron": "0 3 * * *"}, format="json").status_code == 403
    assert desk.by_engineer.delete(path).status_code == 204
    assert desk.by_engineer.get(path).status_code == 404


@pytest.mark.parametrize(
    ("damage", "field"),
    [
        ({"cron": "every night"}, "cron"),
        ({"cron": "0 0 31 2 *"}, "cron"),
        ({"cron": "* * * *"}, "cron"),
        ({"cron": ""}, "cron"),
        ({"time_zone": "Mars/North"}, "time_zone"),
        ({"time_zone": "../etc/passwd"}, "time_zone"),
        ({"scope": {"tables": ["a.b.c"]}}, "scope"),
        ({"auto_approve": ["everything"]}, "auto_approve"),
        ({"system": "nobody"}, "system"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(desk: Desk, damage: dict[str, Any], field: str) -> None:
    body = {"system": desk.system.code, "cron": "0 2 * * *", **damage}
    answer = desk.by_engineer.post(f"{API}/crawl-plans", body, format="json")
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"].startswith(field), answer.json()


def test_a_due_plan_is_started_once_and_approves_what_it_may(desk: Desk, source: Source) -> None:
    desk.decide(desk.crawl(), approve="all")
    plan = CrawlPlan.objects.create(
        system=desk.system,
        cron="0 2 * * *",
        auto_approve=["safe", "breaking"],
        next_due_at=timezone.now() - timedelta(minutes=1),
    )
    source.execute("ALTER TABLE bins ADD label text; ALTER TABLE bins DROP part_id;")
    assert plans.start_due() == 1
    assert plans.start_due() == 0
    drain()
    run = CrawlRun.objects.get(plan=plan)
    assert (run.status, run.trigger) == ("completed", "schedule")
    plan.refresh_from_db()
    assert plan.next_due_at is not None
    assert plan.next_due_at > timezone.now()
    fields = {field["name"] for field in desk.schema("main.bins")["fields"]}
    assert fields == {"id", "part_id", "label"}, "what needs two people is never approved by a plan"
    left = desk.changes()
    assert {each["op"] for each in left} >= {"drop_field"}
    assert all(each["risk"] != "safe" or each["requires"] for each in left)
    applied = [
        change
        for proposal in ok(desk.by_steward.get(f"{API}/proposals", {"crawl_run_id": run.pk}))["items"]
        for change in proposal["changes"]
        if change["decision"]["state"] == "applied"
    ]
    assert {each["decision"]["by"] for each in applied} == {"the plan"}
