"""One more system of `make demo`: the bundled shop, a SQLite file that is really crawled. Only `seed_demo` uses it.

Everything here may run again at any time: what is there stays as people left it.
"""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from aide.accounts.models import User
from aide.audit.entries import Entry, record
from crawling import crawl, review, stand_in
from crawling.models import CrawlRun, Proposal
from crawling.samples import build_shop, change_shop, stage_of
from registry.models import System, SystemFlavor

CODE = "demo-shop"
STILL_WAITING = {"sales_customer_overview", "sales_order_totals", "sales_support_tickets", "stock_on_hand"}


def file() -> Path:
    """Where the shop's database lies."""
    return stand_in.folder() / "shop.sqlite3"


def is_there() -> bool:
    return System.objects.filter(code=CODE, deleted_at__isnull=True).exists()


def prepare(*, steward: User) -> CrawlRun | None:
    """Make what is missing: a first crawl, its approval, and a second crawl to review. The latest crawl it made."""
    path = file()
    if not path.exists() or not is_there():
        build_shop(path)
    shop = _system(path, steward=steward)
    looks = shop.crawl_runs.filter(status=CrawlRun.Status.COMPLETED).count()
    run = None
    if looks == 0:
        run = _crawl(shop)
        _approve(run, by=steward)
    if looks <= 1 and stage_of(path) == 1:
        change_shop(path)
        run = _crawl(shop)
    return run


def next_crawl() -> CrawlRun:
    """Another night: the shop's developers change their database, as long as they know how, and it is crawled."""
    change_shop(file())
    return _crawl(System.objects.get(code=CODE, deleted_at__isnull=True))


def _system(path: Path, *, steward: User) -> System:
    url = f"sqlite:///{path}"
    system = System.objects.filter(code=CODE, deleted_at__isnull=True).first()
    if system is None:
        with transaction.atomic():
            system = System(
                code=CODE,
                name="Demo shop",
                flavor=SystemFlavor.objects.get(code="sqlite", deleted_at__isnull=True),
                connection_url=url,
                environment="demo",
                owner="The shop team",
                tags=["demo"],
            )
            system.full_clean()
            system.save()
            system.stewards.add(steward)
            record(Entry("system.create", "system", system.pk, system.code, system_code=system.code))
    elif system.connection_url != url and not _file_of(system).exists():
        system.connection_url = url  # the folder was moved
        system.save()
    return system


def _file_of(system: System) -> Path:
    return Path(system.connection_url.removeprefix("sqlite:///"))


def _crawl(system: System) -> CrawlRun:
    return crawl.crawl_now(system, trigger=CrawlRun.Trigger.COMMAND)


def _approve(run: CrawlRun, *, by: User) -> None:
    """What the steward did after the first crawl: everything but a few datasets, which still wait."""
    proposals = [each for each in review.proposals_of(run) if not _still_waits(each)]
    review.decide(proposals, approve="safe", by=by)
    review.apply(proposals, by=by, comment="The shop as it was at the start.")


def _still_waits(proposal: Proposal) -> bool:
    return proposal.dataset_name.removeprefix("main.") in STILL_WAITING
