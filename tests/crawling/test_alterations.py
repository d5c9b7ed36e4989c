"""Many alterations on real servers are told for what they are; approved as a whole, the next crawl is quiet."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aide_crawler import inspect
from aide_crawler.names import split_qualified_name
from sqlalchemy.engine import make_url

from crawling.diff import compare
from registry.documents import clean
from registry.locations import dataset_name
from registry.seeding import bundled_catalogue
from tests.flows.desk import Desk
from tests.flows.sources import make_system

FOLDER = Path(__file__).with_name("alterations")


@dataclass(frozen=True)
class Case:
    """What is made, what alters it, and what a steward must be asked about then."""

    before: str
    after: str
    told: tuple[str, ...]


def _cases(engine: str) -> dict[str, Case]:
    text = (FOLDER / f"{engine}.sql").read_text(encoding="utf-8")
    cases = {}
    for part in text.split("\n-- case ")[1:]:
        name, _, script = part.partition("\n")
        before, after = script.split("-- then\n")
        told = [line.removeprefix("-- told: ") for line in after.splitlines() if line.startswith("-- told: ")]
        cases[name] = Case(before, after.partition("-- told: ")[0], tuple(sorted(told)))
    return cases


POSTGRESQL, MARIADB, SQLITE = (_cases(engine) for engine in ("postgresql", "mariadb", "sqlite"))


def _told(dataset: str, field: str | None, op: str, risk: str) -> tuple[str, str]:
    """The schema that it is about, and the change in the words of the cases."""
    schema, table = split_qualified_name(dataset)
    return schema, f"{op} {table}{'.' + field if field is not None else ''} {risk}"


def _wanted(cases: Mapping[str, Case]) -> dict[str, list[str]]:
    return {name: list(case.told) for name, case in cases.items()}


def _by_case(told: Iterable[tuple[str, str]], cases: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in cases}
    for name, change in told:
        found.setdefault(name, []).append(change)
    return {name: sorted(changes) for name, changes in found.items()}


def _alter_and_review(desk: Desk, alter: Callable[[], None], **config: Any) -> list[tuple[str, str]]:
    """What is asked about after the alterations. All of it can be approved, and then nothing more is asked."""
    desk.approve_all(desk.crawl(**config))
    assert desk.changes() == []
    alter()
    run = desk.crawl(**config)
    assert run["status"] == "completed", run["error"]
    asked = [
        _told(each["path"]["dataset"], each["path"]["field"], each["op"], each["risk"])
        for each in desk.changes()
    ]
    for _ in range(3):
        outcome = desk.approve_all(run)
        assert not outcome["failed"], outcome
        if not desk.changes():
            break
        run = desk.crawl(**config)
    report = desk.report(desk.crawl(**config)["id"])
    assert not any(
        count for key, count in report["summary"].items() if key not in ("unmapped_types", "skipped")
    )
    assert desk.changes() == []
    return asked


@pytest.mark.django_db(transaction=True)
def test_alterations_of_postgresql(postgres_server: Any, type_catalogues: None) -> None:
    url = postgres_server.create_database()
    database = make_url(url).database

    def run(step: str) -> None:
        for name, case in POSTGRESQL.items():
            first = f"CREATE SCHEMA {name}; " if step == "before" else ""
            script = f"{first}SET search_path = {name}; {getattr(case, step)}"
            postgres_server.execute(script, database=database)

    run("before")
    asked = _alter_and_review(Desk(make_system("postgresql", url)), lambda: run("after"))
    assert _by_case(asked, POSTGRESQL) == _wanted(POSTGRESQL)
    postgres_server.drop_database(database)


@pytest.mark.django_db(transaction=True)
def test_alterations_of_mariadb(mariadb_server: Any, type_catalogues: None) -> None:
    places = {name: str(make_url(mariadb_server.create_database()).database) for name in MARIADB}

    def run(step: str) -> None:
        for name, case in MARIADB.items():
            mariadb_server.execute(getattr(case, step), database=places[name])

    run("before")
    desk = Desk(make_system("mariadb", str(mariadb_server.url)))
    asked = _alter_and_review(desk, lambda: run("after"), config={"schemas": sorted(places.values())})
    names = {place: name for name, place in places.items()}
    assert _by_case(((names[schema], change) for schema, change in asked), MARIADB) == _wanted(MARIADB)
    for place in places.values():
        mariadb_server.drop_database(place)


def test_alterations_of_sqlite(tmp_path: Path) -> None:
    found = {}
    for name, case in SQLITE.items():
        path = tmp_path / f"{name}.db"
        sides = []
        for script in (case.before, case.after):
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.executescript(script)
            documents = inspect(f"sqlite:///{path}").to_dict()["datasets"]
            sides.append({dataset_name(each): clean(each) for each in documents})
        found[name] = sorted(
            _told(change.dataset, change.field, change.op, change.risk)[1]
            for each in compare(*sides, catalogue=bundled_catalogue("sqlite"), covered=lambda _: True)
            for change in each.changes
        )
    assert found == _wanted(SQLITE)
