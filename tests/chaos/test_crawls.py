"""Crawls by the product while servers are killed, restarted or fall silent: a true end, and nothing wrongly gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from tests.flows.faults import Known, Line, at_statement, limited
from tests.flows.sources import open_source

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]
ENGINES = ("postgresql", "mariadb")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def server(request: pytest.FixtureRequest, engine: str) -> Iterator[Any]:
    fixture = {"postgresql": "postgres_server", "mariadb": "mariadb_server"}[engine]
    server = request.getfixturevalue(fixture)
    if not server.is_ours:
        pytest.skip("the server is not ours to stop")
    from django.db import connection

    if connection.vendor == "postgresql" and engine == "postgresql":
        pytest.skip("the product's own database is on this server")
    yield server
    if not server.answers():
        server.start()


@pytest.fixture
def known(
    request: pytest.FixtureRequest, server: Any, engine: str, tmp_path: Path, type_catalogues: None
) -> Known:
    return Known(open_source(engine, request=request, folder=tmp_path))


@pytest.mark.parametrize("number", [2, 5, 8])
def test_a_source_killed_in_the_middle_and_started_again(known: Known, server: Any, number: int) -> None:
    with at_statement(number, server.kill):
        known.came_through(known.desk.crawl(), "failed")
    known.came_through(known.desk.crawl(), "failed", code="refused")
    server.start()
    known.finds_the_real_change()


def test_a_source_restarted_between_two_crawls(known: Known, server: Any) -> None:
    server.stop()
    server.start()
    known.came_through(known.desk.crawl(), "completed")
    known.finds_the_real_change()


@pytest.mark.parametrize("answered", [10, 3000])
def test_a_line_that_falls_silent(known: Known, answered: int) -> None:
    url = make_url(known.source.url)
    line = Line(url.host or "127.0.0.1", url.port or 0)
    system = known.desk.system
    system.connection_url = url.set(host="127.0.0.1", port=line.port).render_as_string(hide_password=False)
    system.save()
    try:
        line.breaks_after(answered, cut=False)
        with limited(connect_seconds=2, statement_seconds=1, lock_seconds=1):
            began = time.monotonic()
            known.came_through(known.desk.crawl(), "failed")
            assert time.monotonic() - began < 30
        line.heals()
        known.finds_the_real_change()
    finally:
        line.close()
