"""A night of the story: the crawl of a system as its schedule makes it, and what people decided the next day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from aide_crawler import Coverage, SchemaCoverage, Scope, Snapshot

from aide.desk.demo.clock import Clock
from aide.desk.demo.tables import Document
from crawling import crawl, review
from crawling.crawl import runs
from crawling.models import Change, CrawlPlan, CrawlRun
from registry.models import System


def look(
    system: System, found: Mapping[str, Document], *, at: datetime, clock: Clock, database: str = ""
) -> CrawlRun:
    """A finished crawl of the system that saw these documents."""
    run = begin(system, at=at, clock=clock)
    clock.at(at + timedelta(seconds=20 + 3 * len(found)))
    crawl.receive(run, snapshot_of(found, database=database), timings={"look": 15.0 + 3 * len(found)})
    run.refresh_from_db()
    return run


def begin(system: System, *, at: datetime, clock: Clock) -> CrawlRun:
    """The run as the system's schedule starts it."""
    clock.at(at)
    return runs.create(
        system,
        trigger=CrawlRun.Trigger.SCHEDULE,
        plan=CrawlPlan.objects.filter(system=system).first(),
        config=Scope().to_dict(),
        status=CrawlRun.Status.RUNNING,
        started_at=at,
        heartbeat_at=at,
    )


def snapshot_of(found: Mapping[str, Document], *, database: str = "") -> Snapshot:
    """A look that saw these documents, all of them and nothing else."""
    schemas = sorted({each["schema"] or "" for each in found.values()})
    coverage = Coverage(
        schemas=tuple(SchemaCoverage(name) for name in schemas),
        listed=len(found),
        read=len(found),
        all_schemas=True,
    )
    return Snapshot("postgresql", database or None, Scope(), tuple(found.values()), coverage)


def decide(
    run: CrawlRun,
    *,
    first: Any,
    second: Any = None,
    at: datetime,
    clock: Clock,
    reject: Sequence[review.Rejection] = (),
    why: str = "",
) -> None:
    """The first person decides everything that the run stands for; a second one confirms in the afternoon."""
    clock.at(at)
    review.decide(review.proposals_of(run), approve="all", reject=reject, comment=why, by=first)
    review.apply(review.proposals_of(run), by=first)
    waiting = Change.objects.filter(proposal__crawl_run=run, state=Change.State.WAITING)
    if second is not None and waiting.exists():
        clock.on(hours=4, minutes=37)
        proposals = review.proposals_of(run)
        review.decide(proposals, approve="all", comment="Looked at with the readers; agreed.", by=second)
        review.apply(proposals, by=second)
