"""Several people and programs at the same moment: one run a system, one version a decision."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from crawling.models import CrawlRun, Decision, Draft
from registry.models import DatasetSchema
from tests.flows.desk import API, Desk
from tests.flows.sources import Source, make_system

pytestmark = pytest.mark.django_db(transaction=True)

SOURCE = ";".join(f"CREATE TABLE t{n} (id integer NOT NULL PRIMARY KEY, a text, b text)" for n in range(12))


def _together(*acts: Callable[[], Any]) -> list[Any]:
    """The answers of acts that all begin at the same moment, each in a thread with a connection of its own."""
    answers: list[Any] = [None] * len(acts)
    gate = threading.Barrier(len(acts))

    def act(number: int) -> None:
        try:
            gate.wait(10)
            answers[number] = acts[number]()
        finally:
            connection.close()

    threads = [threading.Thread(target=act, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


def test_of_many_starters_one_wins(type_catalogues: None) -> None:
    desk = Desk(make_system("postgresql", "postgresql://127.0.0.1/app"))

    def start() -> Any:
        return desk.by_engineer.post(f"{API}/crawl-runs", {"system": desk.system.code}, format="json")

    answers = _together(*[start] * 6)
    assert sorted(each.status_code for each in answers) == [202, 409, 409, 409, 409, 409]
    refused = [each.json() for each in answers if each.status_code == 409]
    assert {each["error_code"] for each in refused} == {"CRAWL_ALREADY_RUNNING"}
    assert CrawlRun.objects.count() == 1


def test_the_same_decision_twice_at_once_makes_one_version(sqlite: Source) -> None:
    sqlite.execute(SOURCE)
    desk = Desk(sqlite.system())
    run = desk.crawl()

    def decide() -> Any:
        path = f"{API}/crawl-runs/{run['id']}/decide-and-apply"
        return desk.by_steward.post(path, {"approve": "all"}, format="json")

    answers = _together(*[decide] * 4)
    assert {each.status_code for each in answers} == {200}, [each.content[:300] for each in answers]
    assert sum(len(each.json()["applied"]) for each in answers) == 12
    assert all(each.json()["failed"] == [] for each in answers)
    assert DatasetSchema.objects.count() == 12
    assert Decision.objects.count() == 12
    assert Draft.objects.count() == 0


def test_deciding_while_crawling_loses_nothing(sqlite: Source) -> None:
    sqlite.execute(SOURCE)
    desk = Desk(sqlite.system())
    desk.decide(desk.crawl(), approve="all")
    sqlite.execute(";".join(f"ALTER TABLE t{n} ADD c{n} text; ALTER TABLE t{n} DROP b" for n in range(12)))
    run = desk.crawl()
    sqlite.execute(";".join(f"ALTER TABLE t{n} ADD d{n} text" for n in range(12)))

    def decide() -> Any:
        path = f"{API}/crawl-runs/{run['id']}/decide-and-apply"
        return desk.by_steward.post(path, {"approve": "all"}, format="json")

    def crawl() -> Any:
        return desk.crawl()

    decided, crawled = _together(decide, crawl)
    assert crawled["status"] == "completed", crawled["error"]
    assert decided.status_code in {200, 409}, decided.content
    last = desk.crawl()
    desk.approve_all(last)
    again = desk.crawl()
    assert not any(again["summary"].values()), desk.report(again["id"])
    for number in range(12):
        names = {field["name"] for field in desk.schema(f"main.t{number}")["fields"]}
        assert names == {"id", "a", f"c{number}", f"d{number}"}
