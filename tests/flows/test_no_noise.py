"""A source that did not change gives no proposal, however often it is looked at, and only the runs are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from aide.work.models import WorkItem
from aide.work.runner import drain
from crawling.models import CrawlRun, Proposal
from tests.flows.desk import Desk, contents
from tests.flows.sources import ENGINES, Source
from tests.flows.test_first_crawl import LIBRARY

pytestmark = pytest.mark.django_db(transaction=True)
AGAIN = 17
"""On each of three engines: more than fifty in all."""

# What servers do by themselves, or people do without changing a thing.
UPKEEP = {
    "postgresql": "ANALYZE; REINDEX TABLE authors; COMMENT ON TABLE g1 IS NULL",
    "mariadb": "ANALYZE TABLE authors; OPTIMIZE TABLE authors",
    "sqlite": "ANALYZE; VACUUM; REINDEX",
}
TYPES = {
    "postgresql": (
        "bigint", "varchar(40)", "numeric(12,2) DEFAULT 0", "timestamptz DEFAULT now()", "text[]", "jsonb",
        "boolean DEFAULT false", "uuid", "interval", "double precision", "date DEFAULT CURRENT_DATE", "bytea",
    ),
    "mariadb": (
        "bigint unsigned", "varchar(40)", "decimal(12,2) DEFAULT 0.00", "timestamp NULL DEFAULT current_timestamp()",
        "enum('a','b')", "longtext", "tinyint(1) DEFAULT 0", "char(36)", "year", "double", "datetime(3)", "blob",
    ),
    "sqlite": (
        "INTEGER", "VARCHAR(40)", "NUMERIC(12,2) DEFAULT 0", "TIMESTAMP DEFAULT CURRENT_TIMESTAMP", "TEXT", "JSON",
        "BOOLEAN DEFAULT FALSE", "CHAR(36)", "REAL", "DOUBLE", "DATE", "BLOB",
    ),
}  # fmt: skip


def generated(engine: str, tables: int) -> list[str]:
    """Statements for tables of every type of the engine, each with keys; some refer to the one before."""
    types = TYPES[engine]
    statements = []
    for number in range(tables):
        columns = ", ".join(f"c{n} {types[(number + n) % len(types)]}" for n in range(3 + number % 9))
        unique = f", CONSTRAINT u{number} UNIQUE (code)" if number % 3 == 0 else ""
        key = f", FOREIGN KEY (before_id) REFERENCES g{number - 1} (id)" if number % 4 == 1 else ""
        statements.append(
            f"CREATE TABLE g{number} (id integer NOT NULL PRIMARY KEY, code varchar(20) NOT NULL, "
            f"before_id integer, {columns}{unique}{key})"
        )
        if number % 10 == 0:
            statements.append(f"CREATE VIEW v{number} AS SELECT id, code FROM g{number}")
    return statements


def _stays_quiet(desk: Desk, source: Source, *, times: int, upkeep: str = "") -> None:
    _let_the_background_settle()
    before = contents()
    runs = CrawlRun.objects.count()
    for turn in range(times):
        if upkeep and turn == times // 2:
            source.execute(upkeep)
        run = desk.crawl()
        assert run["status"] == "completed", run["error"]
        noise = {key: count for key, count in run["summary"].items() if count and key in _CHANGES}
        assert noise == {}, desk.report(run["id"])
    assert contents() == before
    assert CrawlRun.objects.count() == runs + times
    assert not Proposal.objects.filter(status__in=Proposal.LIVE).exists()


def _let_the_background_settle() -> None:
    """What was approved before is sealed and sent on; that is no matter of looking again."""
    for _ in range(10):
        WorkItem.objects.filter(state=WorkItem.State.QUEUED).update(run_after=timezone.now())
        if not drain():
            return


_CHANGES = {
    "new_datasets", "removed_datasets", "renames", "new_fields", "removed_fields", "type_changes", "other_changes",
}  # fmt: skip


@pytest.mark.parametrize("source", ENGINES, indirect=True)
def test_an_unchanged_source_stays_quiet(source: Source) -> None:
    source.execute(LIBRARY[source.flavor])
    for statement in generated(source.flavor, 24):
        source.execute(statement)
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    _stays_quiet(desk, source, times=AGAIN, upkeep=UPKEEP[source.flavor])


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ENGINES)
def test_an_unchanged_source_of_a_thousand_tables_stays_quiet(
    new_source: Callable[[str], Source], engine: str
) -> None:
    source = new_source(engine)
    statements = generated(engine, 1000)
    for start in range(0, len(statements), 200):
        source.execute(";\n".join(statements[start : start + 200]))
    desk = Desk(source.system())
    desk.approve_all(desk.crawl())
    assert desk.system.datasets.count() == 1100
    _stays_quiet(desk, source, times=AGAIN)
