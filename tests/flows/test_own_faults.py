"""Faults on our own side: clocks, stops at every stage, a full disk, a database that fails; the same must hold."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from aide.work import queue
from aide.work.models import WorkItem
from aide.work.runner import drain
from crawling import crawl, plans
from crawling.models import CrawlPlan, CrawlRun
from tests.flows.desk import API
from tests.flows.faults import Known
from tests.flows.sources import Source

pytestmark = pytest.mark.django_db(transaction=True)
LONG = timedelta(hours=2)


@pytest.fixture
def known(sqlite: Source) -> Known:
    return Known(sqlite)


def _during_the_look(act: Callable[[CrawlRun], object]) -> Any:
    """Patches the look so that the act happens when the source has been read."""
    look = sys.modules["crawling.crawl.look"]
    real = look._look
    patch = pytest.MonkeyPatch()

    def looked(run: CrawlRun, pulse: Any) -> Any:
        snapshot = real(run, pulse)
        act(run)
        return snapshot

    patch.setattr(look, "_look", looked)
    return patch


def test_a_clock_that_jumps_forward_during_a_crawl(known: Known) -> None:
    def jump(run: CrawlRun) -> None:
        CrawlRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - LONG)
        assert crawl.mark_lost() == 1

    patch = _during_the_look(jump)
    run = known.desk.crawl()
    patch.undo()
    known.came_through(run, "lost", code="lost")
    known.finds_the_real_change()


def test_a_clock_that_was_set_back_keeps_no_system_from_being_crawled(known: Known) -> None:
    """A worker died while the clock was two hours ahead; its run is lost a minute after the clock is right again."""
    ahead = timezone.now() + LONG
    dead = CrawlRun.objects.create(
        system=known.desk.system, trigger="api", status="running", started_at=ahead, heartbeat_at=ahead
    )
    assert crawl.mark_lost() == 0
    dead.refresh_from_db()
    assert dead.heartbeat_at is not None
    assert dead.heartbeat_at <= timezone.now(), "from now on its minute is counted"
    CrawlRun.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=61))
    assert crawl.mark_lost() == 1
    known.came_through(known.desk.run(dead.pk), "lost")
    known.finds_the_real_change()


def test_work_of_a_clock_that_was_set_back_is_done_now(known: Known) -> None:
    run = crawl.start(known.desk.system, trigger=CrawlRun.Trigger.API)
    ahead = timezone.now() + LONG
    WorkItem.objects.update(run_after=ahead, created_at=ahead)
    held = WorkItem.objects.create(
        task="crawling.crawl", payload={"run_id": 0}, state="running", run_after=ahead, lease_until=ahead
    )
    queue.release_expired()
    held.refresh_from_db()
    assert held.lease_until is not None
    assert held.lease_until < timezone.now() + timedelta(minutes=10)
    drain()
    run.refresh_from_db()
    assert run.status == "completed"
    waits = queue.enqueue("crawling.crawl", delay_seconds=3600, run_id=0)
    assert waits is not None
    queue.release_expired()
    waits.refresh_from_db()
    assert waits.run_after > timezone.now() + timedelta(minutes=30), "what is to wait waits"


@pytest.mark.parametrize(
    ("cron", "zone", "start", "due"),
    [
        # Europe/Berlin leaps from 02:00 to 03:00 on 28 March 2027 and falls back to 02:00 on 31 October 2027.
        ("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00", ["2027-03-28", "2027-03-29", "2027-03-30"]),
        ("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", ["2027-10-31", "2027-11-01", "2027-11-02"]),
        ("0 4 * * *", "Europe/Berlin", "2027-03-27T12:00", ["2027-03-28", "2027-03-29", "2027-03-30"]),
        ("30 1 * * *", "America/New_York", "2027-11-06T12:00", ["2027-11-07", "2027-11-08", "2027-11-09"]),
    ],
)
def test_a_night_in_which_the_clocks_change_has_one_crawl(
    cron: str, zone: str, start: str, due: list[str]
) -> None:
    moment = datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    days = []
    for _ in due:
        moment = plans.next_due(cron, zone, after=moment).astimezone(UTC)
        days.append(moment.astimezone(ZoneInfo(zone)).date().isoformat())
    assert days == due
    wanted = f"{int(cron.split()[1]):02}:{int(cron.split()[0]):02}"
    assert f"{moment.astimezone(ZoneInfo(zone)):%H:%M}" == wanted


def test_a_plan_that_is_due_while_its_system_is_crawled(known: Known) -> None:
    system = known.desk.system
    plan = CrawlPlan.objects.create(
        system=system, cron="* * * * *", next_due_at=timezone.now() - timedelta(minutes=1)
    )
    started: list[int] = []
    patch = _during_the_look(lambda run: started.append(plans.start_due()))
    run = known.desk.crawl()
    patch.undo()
    assert started == [0]
    known.came_through(run, "completed")
    plan.refresh_from_db()
    assert plan.next_due_at is not None
    assert plan.next_due_at > timezone.now() - timedelta(seconds=5), "it waits for its next time"
    assert CrawlRun.objects.filter(plan=plan).count() == 0
    plan.delete()
    known.finds_the_real_change()


def test_plans_of_many_hours_of_standstill_start_once(known: Known) -> None:
    plan = CrawlPlan.objects.create(
        system=known.desk.system, cron="*/5 * * * *", next_due_at=timezone.now() - timedelta(days=3)
    )
    assert (plans.start_due(), plans.start_due()) == (1, 0)
    drain()
    assert list(CrawlRun.objects.filter(plan=plan).values_list("status", flat=True)) == ["completed"]
    plan.delete()
    known.finds_the_real_change()


@pytest.mark.parametrize("stage", ["queued", "looking", "compared", "proposing"])
def test_a_crawl_that_is_cancelled_at_each_stage(known: Known, stage: str) -> None:
    desk = known.desk
    known.source.execute("CREATE TABLE extra (id integer PRIMARY KEY)")
    started = desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json").json()

    def cancel(*args: Any, **kwargs: Any) -> None:
        crawl.cancel(CrawlRun.objects.get(pk=started["id"]), by=desk.engineer)

    receive = sys.modules["crawling.crawl.receive"]
    with pytest.MonkeyPatch.context() as patch:
        if stage == "queued":
            cancel()
        elif stage == "looking":
            other = _during_the_look(cancel)
        else:
            name = "compare" if stage == "compared" else "unmapped_types"
            real = getattr(receive, name)
            patch.setattr(receive, name, lambda *a, **k: (cancel(), real(*a, **k))[1])
        drain()
        if stage == "looking":
            other.undo()
    known.came_through(desk.run(started["id"]), "cancelled")
    assert desk.changes() == []
    known.source.execute("DROP TABLE extra")
    known.finds_the_real_change()


@pytest.mark.parametrize("step", ["observe", "propose"])
def test_our_database_fails_while_proposals_are_written(known: Known, step: str) -> None:
    known.source.execute("CREATE TABLE extra (id integer PRIMARY KEY)")
    receive = sys.modules["crawling.crawl.receive"]
    real = getattr(receive, step)

    def fails(*args: Any, **kwargs: Any) -> None:
        real(*args, **kwargs)
        raise OperationalError("the connection was lost, password=Tr0ub4dor")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(receive, step, fails)
        run = known.desk.crawl()
    known.came_through(run, "failed", code="failed")
    assert "Tr0ub4dor" not in str(run)
    assert known.desk.changes() == []
    known.source.execute("DROP TABLE extra")
    known.finds_the_real_change()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a disk is filled by a limit of SQLite")
def test_a_disk_that_is_full(known: Known) -> None:
    known.source.execute(";".join(f"CREATE TABLE extra{n} (id integer PRIMARY KEY)" for n in range(60)))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        pages = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + 2}")
    try:
        run_id = crawl.start(known.desk.system, trigger=CrawlRun.Trigger.API).pk
        drain()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    known.came_through(known.desk.run(run_id), "failed", code="failed")
    assert known.desk.changes() == []
    known.source.execute(";".join(f"DROP TABLE extra{n}" for n in range(60)))
    known.finds_the_real_change()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_crawl_that_is_interrupted(known: Known, stop: type[BaseException]) -> None:
    def interrupt(run: CrawlRun) -> None:
        raise stop

    patch = _during_the_look(interrupt)
    with suppress(KeyboardInterrupt, SystemExit):
        crawl.crawl_now(known.desk.system, trigger=CrawlRun.Trigger.COMMAND)
    patch.undo()
    run = CrawlRun.objects.latest("pk")
    known.came_through(known.desk.run(run.pk), "cancelled", code="cancelled")
    known.finds_the_real_change()


def test_a_worker_that_comes_back_after_its_run_was_lost(known: Known) -> None:
    """A run that others gave up stays lost, whatever its worker still finds."""
    started: list[int] = []

    def given_up(run: CrawlRun) -> None:
        CrawlRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - LONG)
        second = crawl.start(known.desk.system, trigger=CrawlRun.Trigger.API)
        started.append(second.pk)

    known.source.execute("CREATE TABLE extra (id integer PRIMARY KEY)")
    patch = _during_the_look(lambda run: given_up(run) if not started else None)
    run = known.desk.crawl()
    patch.undo()
    assert run["status"] == "lost"
    assert known.desk.run(started[0])["status"] == "completed"
    known.came_through(run, "lost")
    assert [each["op"] for each in known.desk.changes()] == ["add_dataset"]
    known.source.execute("DROP TABLE extra")
    known.finds_the_real_change()


def test_a_message_that_comes_twice(known: Known) -> None:
    """Celery delivers at least once; the second delivery of a run does nothing."""
    run = known.desk.crawl()
    crawl.crawl(run["id"])
    assert known.desk.run(run["id"]) == run
    known.finds_the_real_change()


def test_a_run_that_no_worker_takes_for_a_day(known: Known) -> None:
    run = crawl.start(known.desk.system, trigger=CrawlRun.Trigger.API)
    WorkItem.objects.all().delete()
    CrawlRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(hours=25))
    crawl.mark_lost()
    known.came_through(known.desk.run(run.pk), "lost", code="lost")
    known.finds_the_real_change()


@pytest.mark.parametrize("part", ["schema", "objects"])
def test_an_uploaded_look_that_was_partly_blind(known: Known, part: str) -> None:
    coverage: dict[str, Any] = {"schemas": [{"name": "main", "status": "listed"}], "all_schemas": True}
    if part == "schema":
        coverage = {"schemas": [{"name": "main", "status": "failed", "reason": "Denied."}]}
    else:
        names = ("customers", "orders", "items", "notes")
        coverage["failed"] = [{"schema": "main", "name": n, "reason": "Locked."} for n in names]
    snapshot = {
        "snapshot_version": 1, "dialect": "sqlite", "database": "x", "datasets": [], "coverage": coverage,
    }  # fmt: skip
    body = {"system": known.desk.system.code, "snapshot": snapshot}
    run = known.desk.by_engineer.post(f"{API}/crawl-runs", body, format="json").json()
    known.came_through(run, "completed_with_errors")
    known.finds_the_real_change()
