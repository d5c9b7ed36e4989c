"""When most of what was known is gone at once: said loudly, and decided by name only. Only crawling.crawl uses it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from crawling.diff import DatasetDiff
from crawling.models import Change, CrawlRun
from registry.models import System

MANY = 5
"""So many gone datasets are an alarm when they are more than half of the known ones."""


@dataclass(frozen=True)
class Looked:
    """Differences with the sudden losses marked, and the sentences that a steward must see."""

    diffs: tuple[DatasetDiff, ...]
    warnings: tuple[str, ...] = ()


def mark_losses(diffs: Sequence[DatasetDiff], *, known: Collection[str], found: Collection[str]) -> Looked:
    """The same differences; where most known datasets are gone, each drop is marked to be decided by its own id."""
    gone = [each for each in diffs if _is_drop(each)]
    everything = not found and len(gone) > 1
    many = len(gone) >= MANY and 2 * len(gone) > len(known)
    if not everything and not many:
        return Looked(tuple(diffs))
    said = (
        f"All {len(gone)} datasets that were looked for are gone: the source shows none."
        if everything
        else f"{len(gone)} of {len(known)} known datasets are gone at once."
    )
    why = f"{said} Make sure that the source is the right one before you approve this."
    marked = tuple(
        replace(each, changes=tuple(replace(c, rule=Change.MANY_GONE, why=why) for c in each.changes))
        if _is_drop(each)
        else each
        for each in diffs
    )
    warning = (
        f"{said} Check the source, its name and the rights of the log-in; each removal is approved by itself."
    )
    return Looked(marked, (warning,))


def other_database(system: System, database: str | None) -> tuple[str, ...]:
    """A warning where the last look was at a database of another name; a file may be moved without one."""
    if not database or "sqlite" in system.flavor.sqlalchemy_dialects:
        return ()
    earlier = CrawlRun.objects.filter(system=system, dry_run=False, status__in=CrawlRun.LOOKED)
    before = earlier.exclude(database="").order_by("-pk").values_list("database", flat=True).first()
    if before is None or before == database:
        return ()
    return (f"This look was at the database {database}, the one before at {before}.",)


def _is_drop(each: DatasetDiff) -> bool:
    return [change.op for change in each.changes] == [Change.Op.DROP_DATASET]
