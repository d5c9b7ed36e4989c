"""A source that stops, hangs or dies while it is crawled: a plain sentence, in time, and nothing half-read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from aide_crawler import CrawlError, Limits, inspect

from tests.servers import PostgresServer

pytestmark = pytest.mark.chaos
TABLES = 400
LIMITS = Limits(connect_seconds=5, statement_seconds=5, total_seconds=10, lock_seconds=2)


def crawl_error(url: str) -> tuple[CrawlError, float]:
    began = time.monotonic()
    with pytest.raises(CrawlError) as caught:
        inspect(url, limits=LIMITS)
    return caught.value, time.monotonic() - began


def in_the_middle(action: Callable[[], None], *, after: float) -> threading.Timer:
    timer = threading.Timer(after, action)
    timer.start()
    return timer


def look(url: str) -> str:
    """What came of a look: "whole", "part", or the code of its error."""
    try:
        snapshot = inspect(url, limits=LIMITS)
    except CrawlError as error:
        return error.code
    return "whole" if len(snapshot.datasets) == TABLES else "part"


@pytest.fixture
def large(postgres_server: PostgresServer) -> str:
    """A database whose catalogue takes a while to read."""
    if not postgres_server.is_ours:
        pytest.skip("the server is not ours to stop")
    url = postgres_server.create_database()
    name = url.rsplit("/", 1)[1]
    columns = ", ".join(f"c{number} integer" for number in range(60))
    tables = "; ".join(f"CREATE TABLE t{number} ({columns})" for number in range(TABLES))
    postgres_server.execute(tables, database=name)
    postgres_server.execute("CHECKPOINT")
    return url


def test_a_stopped_source_is_refused(postgres_server: PostgresServer, large: str) -> None:
    postgres_server.stop()
    error, seconds = crawl_error(large)
    assert error.code == "refused"
    assert seconds < 15


def test_a_silent_source_times_out(postgres_server: PostgresServer, large: str) -> None:
    postgres_server.pause()
    error, seconds = crawl_error(large)
    assert error.code == "timeout"
    assert seconds < 15


def test_a_source_that_dies_in_the_middle_gives_no_snapshot(
    postgres_server: PostgresServer, large: str
) -> None:
    """Whatever moment the death hits, the look either was whole or raises; it is never a part."""
    for after in (0.02, 0.05, 0.1, 0.2):
        timer = in_the_middle(postgres_server.kill, after=after)
        outcome = look(large)
        timer.join()
        postgres_server.start()
        assert outcome in {"whole", "connection_lost", "refused", "timeout"}
