"""A source that is suddenly empty, or has lost most of its datasets: said loudly, and never approved in passing."""

from __future__ import annotations

import pytest
from django.urls import reverse

from aide.work.runner import drain
from crawling import crawl
from crawling.diff import MANY_GONE
from crawling.models import Change, CrawlPlan, CrawlRun
from tests.factories import api_client
from tests.flows.desk import API, Desk, ok
from tests.flows.sources import Source

# A crawl that takes seconds has a heartbeat, which needs to see what this thread wrote.
pytestmark = pytest.mark.django_db(transaction=True)


def _tables(*numbers: int) -> str:
    return ";".join(f"CREATE TABLE t{n} (id integer NOT NULL PRIMARY KEY, a text)" for n in numbers)


def _dropped(*numbers: int) -> str:
    return ";".join(f"DROP TABLE t{n}" for n in numbers)


def _known(source: Source, count: int) -> Desk:
    source.execute(_tables(*range(count)))
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    return desk


def _alive(desk: Desk) -> int:
    return desk.system.datasets.filter(deleted_at__isnull=True).exclude(status="retired").count()


def test_an_emptied_source_is_told_and_not_taken_as_a_whole(sqlite: Source) -> None:
    desk = _known(sqlite, 3)
    sqlite.execute(_dropped(0, 1, 2))
    run = desk.crawl()
    assert run["status"] == "completed"
    assert "All 3 datasets that were looked for are gone" in run["warnings"][0]
    assert desk.report(run["id"])["warnings"] == run["warnings"]
    text = desk.by_engineer.get(f"{API}/crawl-runs/{run['id']}/report?format=text").content.decode()
    assert "WARNING: All 3 datasets" in text
    for word in ("safe", "all"):
        for client in (desk.by_steward, desk.by_approver):
            assert not any(desk.decide(run, client, approve=word).values())
    assert _alive(desk) == 3
    assert {each["risk"] for each in desk.changes()} == {"breaking"}
    assert all("right one" in each["why"] for each in desk.changes())


def test_each_removal_can_be_approved_by_itself(sqlite: Source) -> None:
    desk = _known(sqlite, 3)
    sqlite.execute(_dropped(0, 1, 2))
    run = desk.crawl()
    ids = [each["id"] for each in desk.changes()]
    assert len(desk.decide(run, approve=ids)["waiting"]) == 3
    assert not any(desk.decide(run, desk.by_approver, approve="all").values()), (
        "not even as the second person"
    )
    assert len(desk.decide(run, desk.by_approver, approve=ids)["applied"]) == 3
    assert _alive(desk) == 0


def test_most_of_many_gone_is_an_alarm_and_what_else_changed_is_not_held_up(sqlite: Source) -> None:
    desk = _known(sqlite, 9)
    sqlite.execute(_dropped(0, 1, 2, 3, 4) + "; CREATE TABLE extra (id integer PRIMARY KEY)")
    run = desk.crawl()
    assert "5 of 9 known datasets are gone at once" in run["warnings"][0]
    outcome = desk.approve_all(run)
    assert len(outcome["applied"]) == 1
    assert _alive(desk) == 10


def test_a_few_gone_are_no_alarm(sqlite: Source) -> None:
    desk = _known(sqlite, 9)
    sqlite.execute(_dropped(0, 1, 2, 3))
    run = desk.crawl()
    assert run["warnings"] == []
    desk.approve_all(run)
    assert _alive(desk) == 5


def test_the_alarm_is_over_when_the_source_is_back(sqlite: Source) -> None:
    desk = _known(sqlite, 6)
    sqlite.execute(_dropped(*range(6)))
    desk.crawl()
    sqlite.execute(_tables(*range(6)))
    run = desk.crawl()
    assert run["warnings"] == []
    assert desk.changes() == []


def test_removals_that_waited_before_the_alarm_are_marked_too(sqlite: Source) -> None:
    desk = _known(sqlite, 6)
    sqlite.execute(_dropped(0, 1))
    desk.crawl()
    assert not Change.objects.filter(rule=MANY_GONE).exists()
    sqlite.execute(_dropped(2, 3, 4))
    run = desk.crawl()
    desk.approve_all(run)
    assert _alive(desk) == 6


def test_no_plan_takes_a_sudden_loss_without_a_person(sqlite: Source, settings: object) -> None:
    settings.AIDE_FOUR_EYES = "off"  # type: ignore[attr-defined]
    desk = _known(sqlite, 6)
    sqlite.execute(_dropped(*range(6)))
    plan = CrawlPlan.objects.create(
        system=desk.system, cron="0 2 * * *", auto_approve=["safe", "risky", "breaking"]
    )
    run = crawl.start(desk.system, trigger=CrawlRun.Trigger.SCHEDULE, plan=plan)
    drain()
    run.refresh_from_db()
    assert run.status == "completed"
    assert _alive(desk) == 6


def test_the_run_and_the_review_show_the_warning(sqlite: Source, client: object) -> None:
    desk = _known(sqlite, 6)
    sqlite.execute(_dropped(*range(6)))
    run = desk.crawl()
    client.force_login(desk.steward)  # type: ignore[attr-defined]
    for name in ("crawling_crawlrun_change", "crawling_review"):
        page = client.get(reverse(f"admin:{name}", args=[run["id"]])).content.decode()  # type: ignore[attr-defined]
        assert "Look twice" in page
        assert "All 6 datasets" in page


def test_another_database_of_the_same_system_is_told(new_source: object, postgres_server: object) -> None:
    one = new_source("postgresql")  # type: ignore[operator]
    other = new_source("postgresql")  # type: ignore[operator]
    one.execute(_tables(1, 2))
    other.execute(_tables(1, 2))
    desk = Desk(one.system())
    desk.approve_all(desk.crawl())
    desk.system.connection_url = other.url
    desk.system.save()
    run = desk.crawl()
    assert "the one before at" in run["warnings"][0]
    assert desk.changes() == []
    assert ok(api_client(desk.engineer).get(f"{API}/crawl-runs/{run['id']}"))["warnings"] == run["warnings"]
