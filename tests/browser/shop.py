"""The bundled shop as the browser tests have it: crawled for real, its people, and its next step."""

from __future__ import annotations

from pathlib import Path

from crawling import crawl, review
from crawling.models import Change, CrawlRun
from crawling.samples import build_shop, change_shop
from registry.models import System, SystemFlavor
from tests.factories import PASSWORD, make_user


class Shop:
    """A system on a SQLite file, and five people: steward, approver, engineer, admin, viewer."""

    def __init__(self, file: Path) -> None:
        self.file = file
        build_shop(file)
        self.system = System.objects.create(
            code="shop",
            name="Shop",
            flavor=SystemFlavor.objects.get(code="sqlite"),
            connection_url=f"sqlite:///{file}",
        )
        for role in ("steward", "approver", "engineer", "admin", "viewer"):
            setattr(self, role, make_user(role, email=f"{role}@example.com", full_name=role.title()))
        self.system.stewards.add(self.steward)

    password = PASSWORD

    def crawl(self) -> CrawlRun:
        run = crawl.start(self.system, trigger=CrawlRun.Trigger.COMMAND)
        crawl.crawl(run.pk)
        run.refresh_from_db()
        assert run.status == CrawlRun.Status.COMPLETED, run.error
        return run

    def grown(self) -> CrawlRun:
        """The first crawl is in force, the developers went on, and the second crawl waits for a review."""
        first = self.crawl()
        proposals = review.proposals_of(first)
        review.decide(proposals, approve="all", by=self.steward)
        review.apply(proposals, by=self.steward)
        change_shop(self.file)
        return self.crawl()

    def change(self, run: CrawlRun, op: str, field: str = "", *, dataset: str = "") -> Change:
        rows = Change.objects.filter(proposal__crawl_run=run, op=op, field_path=field)
        return rows.get(dataset_name=f"main.{dataset}") if dataset else rows.get()
