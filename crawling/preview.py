"""What a crawl of a scope would read, before there is a plan or a run: looked up at the source, nothing written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from aide_crawler import CrawlError, Limits, Snapshot, inspect
from aide_crawler.names import qualified_name

from crawling import connect
from crawling.baseline import baseline
from crawling.crawl.runs import scope_of
from crawling.stand_in import stand_in_of
from registry.models import System

SHOWN = 50
LIMITS = Limits(connect_seconds=5, statement_seconds=15, total_seconds=20, lock_seconds=2)


@dataclass(frozen=True)
class Preview:
    """The answer: whether the look came to its end, in one sentence, and the first of what it would read.

    `not_seen` are datasets of the registry in the scope that the look does not show: a crawl would propose those
    as removed that it covers, and leave the others as they are.
    """

    ok: bool
    sentence: str
    total: int = 0
    schemas: tuple[dict[str, Any], ...] = ()
    datasets: tuple[dict[str, Any], ...] = ()
    problems: tuple[dict[str, str], ...] = ()
    problems_total: int = 0
    not_seen: tuple[str, ...] = ()
    not_seen_total: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()
        }


def preview(system: System, config: Mapping[str, Any] | None) -> Preview:
    """Look with this scope, within twenty seconds. Raises Invalid for a scope or a system that no crawl takes."""
    scope = scope_of(config, field="scope")
    connect.check_can_crawl(system)
    bundled = stand_in_of(system)
    try:
        if bundled is not None:
            return _told(replace(bundled, pause=0.0).look(scope), known=set(baseline(system, scope=scope)))
        connection = connect.connection_to(system)
        snapshot = inspect(connection.url, password=connection.password, scope=scope, limits=LIMITS)
    except CrawlError as error:
        return Preview(False, error.sentence)
    return _told(snapshot, known=set(baseline(system, scope=scope)))


def _told(snapshot: Snapshot, *, known: set[str]) -> Preview:
    coverage = snapshot.coverage
    missed = {(each.schema, each.name) for each in (*coverage.failed, *coverage.skipped)}
    names = {
        qualified_name(each["schema"], each["name"]): each
        for each in snapshot.datasets
        if (each["schema"], each["name"]) not in missed
    }
    per_schema = Counter(each["schema"] for each in names.values())
    schemas = [
        {
            "name": each.name,
            "status": each.status,
            "reason": each.reason or "",
            "datasets": per_schema[each.name],
        }
        for each in coverage.schemas
    ]
    problems = [
        {"object": qualified_name(each.schema, each.name), "state": state, "reason": each.reason}
        for state in ("failed", "skipped")
        for each in getattr(coverage, state)
    ]
    told = {each["object"] for each in problems}
    not_seen = sorted(known - set(names) - told)
    datasets = [
        {
            "name": name,
            "object_kind": each.get("kind") or "table",
            "fields_count": len(each.get("fields") or ()),
            "is_known": name in known,
        }
        for name, each in sorted(names.items())[:SHOWN]
    ]
    return Preview(
        True,
        _sentence(len(names), len(schemas), len(problems)),
        total=len(names),
        schemas=tuple(schemas[:SHOWN]),
        datasets=tuple(datasets),
        problems=tuple(problems[:SHOWN]),
        problems_total=len(problems),
        not_seen=tuple(not_seen[:SHOWN]),
        not_seen_total=len(not_seen),
    )


def _sentence(total: int, schemas: int, problems: int) -> str:
    if not total:
        return "A crawl of this scope would read nothing."
    tables = "1 table or view" if total == 1 else f"{total:,} tables and views"
    words = f"A crawl of this scope would read {tables} in {'1 schema' if schemas == 1 else f'{schemas:,} schemas'}"
    return f"{words}; {problems:,} could not be read or would be left out." if problems else f"{words}."
