"""`manage.py seed_demo`: accounts and systems to try AIDE with. Refuses outside of AIDE_DEBUG=1."""

from __future__ import annotations

import argparse
import io
import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from crawling import demo
from crawling.models import Change, CrawlRun, Proposal


class Command(BaseCommand):
    help = "Make the demo: an account for each role and the bundled shop, crawled. May run again at any time."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--size",
            choices=["small", "medium"],
            default="small",
            help="the bundled shop is the same in each size",
        )
        parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same story")
        parser.add_argument("--step", choices=["next-crawl"], help="change the shop and crawl it again")
        parser.add_argument("--reset", action="store_true", help="empty the whole database first")

    def handle(self, *args: Any, step: str | None, reset: bool, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("seed_demo is for trying AIDE: it needs AIDE_DEBUG=1.")
        if reset:
            self._empty()
        self._bring_up_to_date()
        if others := demo.foreign_systems():
            raise CommandError(
                f"There are systems that are not the demo's: {', '.join(others)}. "
                "Use an empty database, or --reset to empty this one."
            )
        logging.disable(logging.INFO)
        prepared = demo.next_crawl() if step == "next-crawl" else demo.prepare()
        if not settings.AIDE_KAFKA_SERVERS:
            # Else the server's first lines would push the log-ins off the screen.
            call_command("forward_events", once=True, stdout=io.StringIO())
        logging.disable(logging.NOTSET)
        if prepared.run is not None:
            self._tell_run(prepared.run)
        self._tell_log_ins(prepared)

    def _empty(self) -> None:
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

    def _bring_up_to_date(self) -> None:
        """The tables and the type catalogues, so that an empty database will do."""
        self.stdout.write("Preparing the database …")
        self.stdout.flush()
        call_command("migrate", verbosity=0)
        call_command("seed_data_types", stdout=io.StringIO())

    def _tell_run(self, run: CrawlRun) -> None:
        if run.status == CrawlRun.Status.FAILED:
            raise CommandError(f"The crawl of {demo.SHOP_CODE} failed: {run.error}")
        waiting = Change.objects.filter(proposal__system=run.system, state__in=Change.UNDECIDED)
        live = waiting.filter(proposal__status__in=Proposal.LIVE).count()
        self.stdout.write(
            f"Crawled {demo.SHOP_CODE}: {run.tables_done} tables and views, {live} changes wait for review."
        )

    def _tell_log_ins(self, prepared: demo.Prepared) -> None:
        self.stdout.write("\nLog-ins (the log-in page has a button for each):")
        for user in prepared.accounts:
            self.stdout.write(f"  {user.email:<22} password: {demo.PASSWORD}")
        self.stdout.write(
            "What to look at: sign in as steward, open the review that waits, decide, finish.\n"
        )
