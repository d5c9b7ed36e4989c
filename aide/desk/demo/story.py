"""The demo's story: ten months of six systems, told by the product's own rules at the times they happened.

Only `seed_demo` uses it. It is told whole or not at all, and the same seed tells the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from django.db import transaction
from django.utils import timezone

from aide.audit import chain
from aide.desk.demo import accounts, bundled, filling, flow, nights, outbox, personal, shop, systems, tables
from aide.desk.demo.clock import Clock, first_of_march, last_time
from aide.desk.demo.edits import edited
from aide.desk.demo.tables import Source
from crawling import crawl, review
from crawling.crawl import runs
from crawling.models import Change, CrawlRun
from registry import reading, versions
from registry.models import Dataset, System

PLOT: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "plot.yaml").read_text(encoding="utf-8"))
HOST_KEY = "The host key changed: sftp.demo.example shows another one than before, so nothing more was read."


@dataclass
class Story:
    """Everything that the scenes share: the clock, the people, the systems and what their sources hold now."""

    now: datetime
    clock: Clock
    random: random.Random
    people: dict[str, Any]
    sources: dict[str, Source]
    systems: dict[str, System] = field(default_factory=dict)

    @property
    def window(self) -> datetime:
        """Since when decisions and events are counted."""
        return self.now - timedelta(days=90)

    @cached_property
    def beginning(self) -> datetime:
        """The night of 5 January in which the systems were first crawled."""
        return first_of_march(self.now).replace(month=1, day=5, hour=2, minute=12)

    @cached_property
    def tonight(self) -> datetime:
        """The last 02:12 after which the hand edit of 02:40 is over, too."""
        return last_time(2, 12, before=self.now - timedelta(minutes=50))

    def source_of(self, code: str) -> Source:
        return self.sources[code]

    def edit(self, code: str, edits: Mapping[str, list[str]]) -> None:
        """Developers change tables of a system."""
        source = self.sources[code]
        for name, lines in edits.items():
            source.documents[name] = edited(source.documents[name], lines, flavor=source.values["flavor"])

    def crawl(self, code: str, *, at: datetime) -> CrawlRun:
        """A night's crawl of what the source holds now."""
        source = self.sources[code]
        database = str(source.values.get("database", ""))
        return nights.look(self.systems[code], source.documents, at=at, clock=self.clock, database=database)


def is_told() -> bool:
    """Whether the story is in this database."""
    return System.objects.filter(code__in=systems.MINUTES).exists()


def foreign_systems() -> list[str]:
    """The codes of systems in a database that was never a demo; whoever tries the demo may add systems to it."""
    codes = System.objects.filter(deleted_at__isnull=True).values_list("code", flat=True)
    own = {*systems.MINUTES, shop.CODE}
    return [] if own & set(codes) else list(codes[:20])


def tell(*, seed: int) -> None:
    """Tell the whole story in one transaction, then seal the audit log."""
    now = timezone.now()
    clock = Clock(now)
    with clock.running(), transaction.atomic():
        march = first_of_march(now)
        clock.at(march.replace(month=1, day=4, hour=9))
        accounts.programs()
        story = Story(
            now, clock, random.Random(seed), accounts.people(), {each.code: each for each in tables.sources()}  # noqa: S311
        )  # fmt: skip
        for moment, scene in sorted(_scenes(story, march), key=lambda each: each[0]):
            clock.at(moment)
            scene()
        personal.settle()
        outbox.deliver(story.now, clock=clock)
    for code, source in story.sources.items():
        bundled.write_source(
            story.systems[code], source.documents.values(), database=str(source.values.get("database", ""))
        )
    while chain.seal():
        pass


def _scenes(story: Story, march: datetime) -> list[tuple[datetime, Callable[[], None]]]:
    """What happens, by when."""
    beginning = story.beginning
    scenes: list[tuple[datetime, Callable[[], None]]] = [(beginning, lambda: _beginning(story, beginning))]
    days = [beginning + timedelta(days=each) for each in (14, 28, 38, 49)]
    last = story.tonight - timedelta(days=4)
    days += [(march + (last - march) * each).replace(hour=2, minute=12) for each in (0.15, 0.4, 0.7, 1.0)]
    for number, day in enumerate(days):
        scenes.append((day, lambda n=number, day=day: _customers(story, n, day)))  # type: ignore[misc]
    for moment in (days[2], days[5] + timedelta(days=1)):
        scenes.append((moment + timedelta(hours=9), lambda m=moment: personal.confirm(story, late=m > march)))  # type: ignore[misc]
    week = story.tonight - timedelta(days=7)
    scenes.append((week, lambda: _last_week(story, week)))
    scenes += filling.scenes(story, later=[day for day in days if day > story.window])
    scenes += flow.scenes(story)
    scenes.append((story.tonight - timedelta(hours=8), lambda: personal.suggest(story)))
    tonight = story.tonight
    scenes.append((tonight, lambda: _tonight(story, tonight)))
    for code in ("pg-billing", "s3-lake", "hive-dwh"):
        at = tonight.replace(minute=systems.MINUTES[code])
        scenes.append((at, lambda c=code, at=at: _quiet(story, c, at)))  # type: ignore[misc]
    failed = tonight - timedelta(days=1) + timedelta(minutes=32)
    scenes.append((failed, lambda: _host_key(story, failed)))
    lost = story.now - timedelta(hours=3, minutes=5)
    scenes.append((lost, lambda: _lost(story, lost)))
    return scenes


def _beginning(story: Story, at: datetime) -> None:
    """The first crawls, approved, and what was registered by hand."""
    people = story.people
    for code, source in story.sources.items():
        mine = (people["steward"],) if code.startswith("pg-") else ()
        system = systems.make_system(source, by=people["admin"], stewards=mine, after=story.now)
        story.systems[code] = system
        if source.kind == "rdbms":
            run = story.crawl(code, at=story.clock.on(minutes=8))
            nights.decide(
                run, first=people["steward"], at=story.clock.on(hours=7), clock=story.clock,
                why="The tables as they are in production.",
            )  # fmt: skip
            story.clock.at(at)
        else:
            systems.register(system, source, by=people["engineer"])
        systems.describe(system, source)


def _customers(story: Story, number: int, at: datetime) -> None:
    """The next version of customers."""
    story.edit("pg-crm", {"crm.customers": PLOT["customers"][number]})
    run = story.crawl("pg-crm", at=at)
    nights.decide(
        run, first=story.people["steward"], second=story.people["approver"], at=at + timedelta(hours=7),
        clock=story.clock, why="Agreed with the sales platform.",
    )  # fmt: skip


def _last_week(story: Story, at: datetime) -> None:
    """A column is gone that should not be: rejected, and muted until the source changes."""
    story.edit("pg-crm", PLOT["last_week"])
    run = story.crawl("pg-crm", at=at)
    change = Change.objects.get(proposal__crawl_run=run, op=Change.Op.DROP_FIELD, field_path="nickname")
    no = review.Rejection(change.pk, "planned but not agreed: the intranet still shows it", "mute")
    nights.decide(
        run, first=story.people["steward"], at=at + timedelta(hours=7), clock=story.clock, reject=[no]
    )


def _tonight(story: Story, at: datetime) -> None:
    """The crawl that waits for the steward, and the engineer's edit after it."""
    story.edit("pg-crm", PLOT["tonight"])
    story.crawl("pg-crm", at=at)
    story.clock.at(at + timedelta(minutes=28))
    for name, lines in PLOT["by_hand"].items():
        dataset = Dataset.objects.get(system=story.systems["pg-crm"], name=name)
        assert dataset.current_schema is not None
        document = edited(reading.document_of(dataset.current_schema), lines, flavor="postgresql")
        versions.publish(
            versions.Publication(document, dataset=dataset, reason="The discount was missing in the sum."),
            system=dataset.system, by=story.people["engineer"], origin="manual",
        )  # fmt: skip


def _quiet(story: Story, code: str, at: datetime) -> None:
    story.crawl(code, at=at)


def _host_key(story: Story, at: datetime) -> None:
    """The server of the partners shows another key after five of eight folders."""
    code = "sftp-partners"
    names = list(story.sources[code].documents)
    run = nights.begin(story.systems[code], at=at, clock=story.clock)
    story.clock.on(seconds=48)
    coverage = {
        "schemas": [{"name": "", "status": "listed"}], "listed": len(names), "read": 5, "skipped": [],
        "failed": [{"schema": "", "name": name, "reason": "host key changed"} for name in names[5:]],
        "all_schemas": True,
    }  # fmt: skip
    runs.finish(
        run, CrawlRun.Status.FAILED, error=HOST_KEY, error_code="host_key_changed", coverage=coverage,
        tables_total=len(names), tables_done=5, schemas_total=1, timings={"look": 48.0},
    )  # fmt: skip


def _lost(story: Story, at: datetime) -> None:
    """A worker that was not heard of any more."""
    run = nights.begin(story.systems["kafka-events"], at=at, clock=story.clock)
    names = list(story.sources["kafka-events"].documents)
    CrawlRun.objects.filter(pk=run.pk).update(
        heartbeat_at=at + timedelta(minutes=5), tables_total=len(names), tables_done=6, schemas_total=1,
        current_object=names[6],
    )  # fmt: skip
    story.clock.on(minutes=7)
    crawl.mark_lost(story.systems["kafka-events"])
