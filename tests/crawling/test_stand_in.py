"""Bundled sources behind systems: read in a scope, table by table, stopped when asked; only with AIDE_DEBUG=1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aide_crawler import CrawlError, Progress, Scope

from crawling import stand_in
from crawling.stand_in import StandIn, stand_in_of
from registry.models import System

DOCUMENTS = [{"schema": "crm", "name": name, "fields": []} for name in ("customers", "orders", "leads")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "crm.sqlite3"
    stand_in.write(path, DOCUMENTS, dialect="postgresql", database="crm")
    return path


def test_it_shows_what_is_in_the_scope_and_tells_of_each_table(file: Path) -> None:
    told: list[Progress] = []
    snapshot = StandIn(file).look(Scope(exclude_tables=("crm.leads",)), on_progress=told.append)
    assert [each["name"] for each in snapshot.datasets] == ["customers", "orders"]
    assert (snapshot.dialect, snapshot.database) == ("postgresql", "crm")
    assert snapshot.coverage.complete
    assert [each.tables_done for each in told] == [0, 1, 2]


def test_a_look_stops_between_two_tables(file: Path) -> None:
    told: list[Progress] = []
    slow = StandIn(file, pause=60)
    with pytest.raises(CrawlError) as stopped:
        slow.look(Scope(), on_progress=told.append, should_stop=lambda: bool(told))
    assert stopped.value.code == "cancelled"
    assert len(told) == 1


def test_a_file_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(CrawlError, match=r"other\.sqlite3 is not there"):
        StandIn(tmp_path / "other.sqlite3").look(Scope())


@pytest.mark.parametrize(
    "extra",
    [{}, {"stand_in": "../crm.sqlite3"}, {"stand_in": "/etc/passwd"}, {"stand_in": 7}, {"stand_in": ""}, []],
)
def test_only_a_plain_name_of_a_file_stands_in(extra: Any, settings: Any) -> None:
    settings.DEBUG = True
    assert stand_in_of(System(code="crm", extra=extra)) is None


def test_nothing_stands_in_outside_of_development(settings: Any) -> None:
    system = System(code="crm", extra={"stand_in": "crm.sqlite3", "seconds_a_table": 0.2})
    settings.DEBUG = True
    found = stand_in_of(system)
    assert found is not None
    assert found.pause == 0.2
    settings.DEBUG = False
    assert stand_in_of(system) is None
