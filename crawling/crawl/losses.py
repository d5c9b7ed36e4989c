"""When most of what was known is gone at once: said loudly, and decided by name only. Only crawling.crawl uses it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from crawling.baseline import Known
from crawling.diff import MANY_GONE, DatasetDiff
from crawling.models import Change, CrawlRun
from registry.models import Dataset, System

MANY = 5
"""So many gone datasets are an alarm when they are more than half of the known ones."""


@dataclass(frozen=True)
class Looked:
    """Differences with the sudden losses marked, and the sentences that a steward must see."""

    diffs: tuple[DatasetDiff, ...]
    warnings: tuple[str, ...] = ()


def mark_losses(
    diffs: Sequence[DatasetDiff],
    *,
    known: Mapping[str, Known],
    found: Collection[str],
    database: str | None = None,
) -> Looked:
    """The same differences; drops of most known datasets, or of another database's, are decided by their own ids."""
    gone = [each for each in diffs if _is_drop(each)]
    everything = not found and len(gone) > 1
    many = len(gone) >= MANY and 2 * len(gone) > len(known)
    if everything:
        said = f"All {len(gone)} datasets that were looked for are gone: the source shows none."
    elif many:
        said = f"{len(gone)} of {len(known)} known datasets are gone at once."
    else:
        gone = _of_others([each for each in gone if each.name in known], known=known, database=database)
        said = f"{len(gone)} of the datasets that are gone were seen in another database than {database}."
    if not gone:
        return Looked(tuple(diffs))
    why = f"{said} Make sure that the source is the right one before you approve this."
    names = {each.name for each in gone}
    marked = tuple(
        replace(each, changes=tuple(replace(c, rule=MANY_GONE, why=why) for c in each.changes))
        if _is_drop(each) and each.name in names
        else each
        for each in diffs
    )
    warning = (
        f"{said} Check the source, its name and the rights of the log-in; each removal is approved by itself."
    )
    return Looked(marked, (warning,))


def _of_others(
    gone: Sequence[DatasetDiff], *, known: Mapping[str, Known], database: str | None
) -> list[DatasetDiff]:
    """Those whose dataset was last put in force from a database of another name."""
    if not database or not gone:
        return []
    ids = {known[each.name].dataset_id: each for each in gone}
    elsewhere = []
    wanted = list(ids)
    for start in range(0, len(wanted), 500):
        rows = Dataset.objects.filter(pk__in=wanted[start : start + 500])
        for pk, location in rows.values_list("pk", "location"):
            if location.get("database") and location["database"] != database:
                elsewhere.append(ids[pk])
    return elsewhere


def other_database(system: System, database: str | None) -> tuple[str, ...]:
    """A warning where the last look was at a database of another name; a file may be moved without one."""
    if named_database(system, database) is None:
        return ()
    earlier = CrawlRun.objects.filter(system=system, dry_run=False, status__in=CrawlRun.LOOKED)
    before = earlier.exclude(database="").order_by("-pk").values_list("database", flat=True).first()
    if before is None or before == database:
        return ()
    return (f"This look was at the database {database}, the one before at {before}.",)


def named_database(system: System, database: str | None) -> str | None:
    """The database's name where it says which one it is; a file may be moved and stay the same."""
    return None if not database or "sqlite" in system.flavor.sqlalchemy_dialects else database


def _is_drop(each: DatasetDiff) -> bool:
    return [change.op for change in each.changes] == [Change.Op.DROP_DATASET]
