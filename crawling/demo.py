"""The demo: an account for each role, and the bundled shop, really crawled. Only `seed_demo` uses it.

Everything here may run again at any time: what is there stays as people left it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import connection, transaction

from aide.accounts import roles
from aide.accounts.models import User
from aide.audit.entries import Entry, record
from crawling import crawl, review
from crawling.models import CrawlRun, Proposal
from crawling.samples import build_shop, change_shop, stage_of
from registry.models import System, SystemFlavor

DOMAIN = "demo.aide"
PASSWORD = "demo"  # noqa: S105 (a log-in that exists only with AIDE_DEBUG=1, printed for everyone to see)
ACCOUNTS = (roles.STEWARD, roles.APPROVER, roles.ENGINEER, roles.ADMIN, roles.VIEWER)
SHOP_CODE = "demo-shop"
STILL_WAITING = {"sales_customer_overview", "sales_order_totals", "sales_support_tickets", "stock_on_hand"}


@dataclass(frozen=True)
class Prepared:
    """What the demo holds now. `run` is the crawl of this call, None when none was needed."""

    accounts: tuple[User, ...]
    shop: System
    run: CrawlRun | None


def shop_file() -> Path:
    """Where the shop's database lies: beside AIDE's own when that is a file, else in var/."""
    name = str(connection.settings_dict["NAME"])
    is_file = connection.vendor == "sqlite" and Path(name).is_absolute()
    return (Path(name).parent if is_file else Path(settings.VAR_DIR)) / "demo" / "shop.sqlite3"


def prepare() -> Prepared:
    """Make what is missing: accounts, and the shop with a first crawl, its approval, and a second crawl to review."""
    accounts = {role: _account(role) for role in ACCOUNTS}
    path = shop_file()
    if not path.exists() or not System.objects.filter(code=SHOP_CODE, deleted_at__isnull=True).exists():
        build_shop(path)
    shop = _shop(path, steward=accounts[roles.STEWARD])
    looks = shop.crawl_runs.filter(status=CrawlRun.Status.COMPLETED).count()
    run = None
    if looks == 0:
        run = _crawl(shop)
        _approve(run, by=accounts[roles.STEWARD])
    if looks <= 1 and stage_of(path) == 1:
        change_shop(path)
        run = _crawl(shop)
    return Prepared(tuple(accounts.values()), shop, run)


def next_crawl() -> Prepared:
    """Another night: the shop's developers change their database, as long as they know how, and it is crawled."""
    prepared = prepare()
    change_shop(shop_file())
    return Prepared(prepared.accounts, prepared.shop, _crawl(prepared.shop))


def foreign_systems() -> list[str]:
    """The codes of systems in a database that was never a demo; whoever tries the demo may add systems to it."""
    if System.objects.filter(code=SHOP_CODE).exists():
        return []
    codes = System.objects.exclude(code=SHOP_CODE).filter(deleted_at__isnull=True)
    return list(codes.values_list("code", flat=True)[:20])


def _account(role: str) -> User:
    email = f"{role}@{DOMAIN}"
    user = User.objects.filter(email__iexact=email).first()
    if user is not None:
        return user
    with transaction.atomic():
        user = User.objects.create_user(email, PASSWORD, full_name=role)
        user.groups.add(Group.objects.get_or_create(name=role)[0])
        record(Entry("user.create", "user", user.pk, email, after={"groups": [role]}))
    return user


def _shop(path: Path, *, steward: User) -> System:
    url = f"sqlite:///{path}"
    system = System.objects.filter(code=SHOP_CODE, deleted_at__isnull=True).first()
    if system is None:
        with transaction.atomic():
            system = System(
                code=SHOP_CODE,
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
