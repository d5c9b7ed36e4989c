"""`manage.py seed_demo`: accounts and systems to try AIDE with. Refuses outside of AIDE_DEBUG=1."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from crawling import demo
from crawling.models import Change, CrawlRun


class Command(BaseCommand):
    help = "Make the demo: an account for each role and the bundled shop, crawled. May run again at any time."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--size", choices=["small", "medium"], default="small")
        parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same story")
        parser.add_argument("--step", choices=["next-crawl"], help="change the shop and crawl it again")
        parser.add_argument("--reset", action="store_true", help="empty the whole database first")

    def handle(self, *args: Any, step: str | None, reset: bool, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("seed_demo is for trying AIDE: it needs AIDE_DEBUG=1.")
        if reset:
            self._reset()
        elif others := demo.foreign_systems():
            raise CommandError(
                f"There are systems that are not the demo's: {', '.join(others)}. "
                "Use an empty database, or --reset to empty this one."
            )
        prepared = demo.next_crawl() if step == "next-crawl" else demo.prepare()
        if prepared.run is not None:
            self._tell_run(prepared.run)
        self._tell_log_ins(prepared)

    def _reset(self) -> None:
        self.stdout.write("Emptying the database.")
        if connection.vendor == "sqlite":
            name = str(connection.settings_dict["NAME"])
            connection.close()
            for suffix in ("", "-wal", "-shm"):
                Path(name + suffix).unlink(missing_ok=True)
        else:
            with connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA public CASCADE")
                cursor.execute("CREATE SCHEMA public")
        demo.shop_file().unlink(missing_ok=True)
        call_command("migrate", verbosity=0)
        call_command("seed_data_types", stdout=self.stdout)

    def _tell_run(self, run: CrawlRun) -> None:
        if run.status == CrawlRun.Status.FAILED:
            raise CommandError(f"The crawl of {demo.SHOP_CODE} failed: {run.error}")
        found = Change.objects.filter(proposal__crawl_run=run).count()
        self.stdout.write(
            f"Crawled {demo.SHOP_CODE}: {run.tables_done} tables and views, {found} changes to review."
        )

    def _tell_log_ins(self, prepared: demo.Prepared) -> None:
        self.stdout.write("\nLog-ins (the log-in page has a button for each):")
        for user in prepared.accounts:
            self.stdout.write(f"  {user.email:<22} password: {demo.PASSWORD}")
        self.stdout.write(
            "What to look at: sign in as steward, open the review that waits, decide, finish.\n"
        )
