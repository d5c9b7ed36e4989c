"""The demo: an account for each role, and the bundled shop, really crawled. Only `seed_demo` uses it.

Everything here may run again at any time: what is there stays as people left it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import transaction

from aide.accounts import roles
from aide.accounts.models import User
from aide.audit.entries import Entry, record
from crawling import crawl
from crawling.models import CrawlRun
from crawling.samples import build_shop, change_shop
from registry.models import System, SystemFlavor

DOMAIN = "demo.aide"
PASSWORD = "demo"  # noqa: S105 (a log-in that exists only with AIDE_DEBUG=1, printed for everyone to see)
ACCOUNTS = (roles.STEWARD, roles.APPROVER, roles.ENGINEER, roles.ADMIN, roles.VIEWER)
SHOP_CODE = "demo-shop"


@dataclass(frozen=True)
class Prepared:
    """What the demo holds now. `run` is the crawl of this call, None when none was needed."""

    accounts: tuple[User, ...]
    shop: System
    run: CrawlRun | None


def shop_file() -> Path:
    return Path(settings.VAR_DIR) / "demo" / "shop.sqlite3"


def prepare() -> Prepared:
    """Make what is missing: accounts, the shop's file, its system, its first crawl."""
    accounts = tuple(_account(role) for role in ACCOUNTS)
    path = shop_file()
    if not path.exists():
        build_shop(path)
    shop = _shop(path, steward=accounts[ACCOUNTS.index(roles.STEWARD)])
    never_seen = not shop.crawl_runs.filter(
        status__in=[CrawlRun.Status.COMPLETED, CrawlRun.Status.COMPLETED_WITH_ERRORS]
    ).exists()
    return Prepared(accounts, shop, _crawl(shop) if never_seen else None)


def next_crawl() -> Prepared:
    """Let the shop's developers change their database, once, and crawl it again."""
    prepared = prepare()
    path = shop_file()
    if not _is_changed(path):
        change_shop(path)
    return Prepared(prepared.accounts, prepared.shop, _crawl(prepared.shop))


def foreign_systems() -> list[str]:
    """The codes of systems that are not the demo's."""
    codes = System.objects.exclude(code=SHOP_CODE).filter(deleted_at__isnull=True)
    return list(codes.values_list("code", flat=True)[:20])


def _account(role: str) -> User:
    email = f"{role}@{DOMAIN}"
    user = User.objects.filter(email__iexact=email).first()
    if user is not None:
        return user
    with transaction.atomic():
        user = User.objects.create_user(email, PASSWORD, full_name=role)
        user.groups.add(Group.objects.get(name=role))
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


def _is_changed(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'stock_recalls'").fetchone()
    return found is not None
