"""Faults of MariaDB in the middle of a statement or in its files, and clocks that leap while a crawl runs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from aide_crawler.dialects.connection import Connection
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from sqlalchemy.engine import make_url

from aide.work.runner import drain
from crawling import crawl, plans
from tests.flows.desk import API
from tests.flows.faults import Known, at_statement, limited
from tests.flows.sources import Source

pytestmark = pytest.mark.django_db(transaction=True)
NewSource = Callable[[str], Source]


@pytest.fixture
def mariadb(new_source: NewSource) -> Known:
    return Known(new_source("mariadb"))


@pytest.fixture
def lite(sqlite: Source) -> Known:
    return Known(sqlite)


@contextmanager
def columns_take_a_minute(then: Callable[[], object]) -> Iterator[None]:
    """The statement for the columns hangs in the server; a second after it began, something else happens."""
    real = Connection.rows
    threads: list[threading.Thread] = []

    def act() -> None:
        time.sleep(1)
        then()
        connection.close()

    def rows(own: Connection, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        if "information_schema.columns" not in sql:
            return real(own, sql, parameters)
        threads.append(threading.Thread(target=act))
        threads[-1].start()
        return real(own, "select sleep(60), 'waits'", None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "rows", rows)
        yield
    for thread in threads:
        thread.join()


def test_a_crawl_of_mariadb_cancelled_while_a_statement_runs(mariadb: Known) -> None:
    desk = mariadb.desk
    started = desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json").json()
    answers: list[int] = []

    def cancel() -> None:
        answers.append(desk.by_approver.post(f"{API}/crawl-runs/{started['id']}/cancel").status_code)

    with limited(statement_seconds=120), columns_take_a_minute(cancel):
        began = time.monotonic()
        drain()
        assert time.monotonic() - began < 30
    assert answers == [200]
    mariadb.came_through(desk.run(started["id"]), "cancelled", code="cancelled")
    mariadb.finds_the_real_change()


@pytest.mark.parametrize("how", ["KILL QUERY", "KILL CONNECTION"])
def test_a_statement_of_mariadb_that_somebody_kills(mariadb: Known, mariadb_server: Any, how: str) -> None:
    def kill() -> None:
        other = mariadb_server._connect()
        with other, other.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM information_schema.processlist WHERE info LIKE 'select sleep(60)%'"
            )
            for (number,) in cursor.fetchall():
                cursor.execute(f"{how} {number}")

    with columns_take_a_minute(kill):
        mariadb.came_through(mariadb.desk.crawl(), "failed")
    mariadb.finds_the_real_change()


def test_a_damaged_table_of_mariadb_fails_alone(mariadb: Known, mariadb_server: Any) -> None:
    if not mariadb_server.is_ours:
        pytest.skip("the files of the server are not ours")
    file = Path(mariadb_server.folder) / "data" / str(make_url(mariadb.source.url).database) / "notes.frm"
    whole = file.read_bytes()
    for damaged in (b"", b"rubbish" * 300, whole[: len(whole) // 2]):
        file.write_bytes(damaged)
        mariadb_server.execute("FLUSH TABLES")
        run = mariadb.desk.crawl()
        mariadb.came_through(run, "completed_with_errors")
        assert [each["name"] for each in run["coverage"]["failed"]] == ["notes"]
    file.write_bytes(whole)
    mariadb_server.execute("FLUSH TABLES")
    mariadb.finds_the_real_change()


def test_the_process_gets_another_time_zone_while_it_crawls(
    lite: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the clocks change at night: local time leaps, and nothing of a run is counted in it."""
    kept = os.environ.get("TZ")

    def leap() -> None:
        monkeypatch.setenv("TZ", "America/New_York")
        time.tzset()

    try:
        with at_statement(3, leap):
            run = lite.desk.crawl()
    finally:
        monkeypatch.undo()
        assert os.environ.get("TZ") == kept
        time.tzset()
    lite.came_through(run, "completed")
    assert run["started_at"] <= run["finished_at"]
    lite.finds_the_real_change()


@pytest.mark.parametrize("hours", [-2, 2], ids=["back", "forward"])
def test_a_clock_that_is_set_while_a_crawl_runs(lite: Known, hours: int) -> None:
    real = timezone.now

    with pytest.MonkeyPatch.context() as patch:
        with at_statement(3, lambda: patch.setattr(timezone, "now", lambda: real() + timedelta(hours=hours))):
            run = lite.desk.crawl()
        lite.came_through(run, "completed")
        assert crawl.mark_lost() == 0
        client = Client()
        client.force_login(lite.desk.engineer)
        page = client.get(reverse("admin:crawling_crawlrun_change", args=[run["id"]])).content.decode()
        assert "-1 day" not in page
        assert "\N{MINUS SIGN}" not in page
    lite.finds_the_real_change()


@pytest.mark.parametrize(
    ("cron", "zone", "day", "times"),
    [
        # Berlin leaps over 02:xx on 28 March 2027 and has it twice on 31 October; Lord Howe moves by half an hour.
        ("0 * * * *", "Europe/Berlin", "2027-03-28", 23),
        ("0 * * * *", "Europe/Berlin", "2027-10-31", 25),
        ("*/15 * * * *", "Europe/Berlin", "2027-03-28", 92),
        ("*/15 * * * *", "Europe/Berlin", "2027-10-31", 100),
        ("0 * * * *", "Australia/Lord_Howe", "2027-04-04", 24),
        ("15 2 * * *", "Australia/Lord_Howe", "2027-10-03", 1),
        ("0 0 * * *", "Africa/Cairo", "2027-04-30", 1),
    ],
)
def test_a_plan_of_every_hour_misses_none_in_a_night_of_clock_changes(
    cron: str, zone: str, day: str, times: int
) -> None:
    midnight = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    moment, found = midnight - timedelta(seconds=1), []
    while len(found) < 200:
        later = plans.next_due(cron, zone, after=moment).astimezone(UTC)
        assert later > moment, "time goes on"
        moment = later
        if moment.astimezone(ZoneInfo(zone)).date().isoformat() != day:
            break
        found.append(moment)
    assert len(found) == times, [f"{each.astimezone(ZoneInfo(zone)):%H:%M%z}" for each in found]
