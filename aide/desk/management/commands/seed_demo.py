"""`manage.py seed_demo`: a story to try AIDE with, its people and systems. Refuses outside of AIDE_DEBUG=1."""

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

from aide.desk.demo import accounts, many, next_night, shop, story, telling
from crawling import stand_in
from crawling.models import CrawlRun


class Command(BaseCommand):
    help = "Make the demo: people, six systems with a year behind them, and what waits. May run again at any time."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--size",
            choices=["small", "medium"],
            default="small",
            help="medium: beside the story so many systems that there are 5,000 datasets with 150,000 fields",
        )
        parser.add_argument("--seed", type=int, default=7, help="the same seed gives the same story")
        parser.add_argument("--step", choices=["next-crawl"], help="the night after, crawled")
        parser.add_argument("--reset", action="store_true", help="empty the whole database first")
        parser.add_argument("--with-shop", action="store_true", help="and the bundled shop, really crawled")

    def handle(
        self, *args: Any, size: str, seed: int, step: str | None, reset: bool, with_shop: bool, **options: Any
    ) -> None:
        if not settings.DEBUG:
            raise CommandError("seed_demo is for trying AIDE: it needs AIDE_DEBUG=1.")
        if reset:
            self._empty()
        self._bring_up_to_date()
        if others := story.foreign_systems():
            raise CommandError(
                f"There are systems that are not the demo's: {', '.join(others)}. "
                "Use an empty database, or --reset to empty this one."
            )
        logging.disable(logging.INFO)
        try:
            self._seed(size=size, seed=seed, step=step, with_shop=with_shop)
        finally:
            logging.disable(logging.NOTSET)
        self.stdout.write(telling.what_there_is())
        self.stdout.write("\nLog-ins (the log-in page has a button for each):")
        for user in accounts.people().values():
            self.stdout.write(f"  {user.email:<22} password: {accounts.PASSWORD}")
        self.stdout.write(telling.WHAT_TO_LOOK_AT)

    def _seed(self, *, size: str, seed: int, step: str | None, with_shop: bool) -> None:
        if not story.is_told():
            self._say("Telling the story of the demo …")
            story.tell(seed=seed)
        if size == "medium" and not many.are_there():
            self._say("Filling it up to 5,000 datasets …")
            many.fill(seed=seed)
        if with_shop:
            self._check(shop.prepare(steward=accounts.people()["steward"]))
        if step == "next-crawl":
            self._check(next_night.come(story.PLOT["next_night"]))
            if shop.is_there():
                self._check(shop.next_crawl())
        if (with_shop or step) and not settings.AIDE_KAFKA_SERVERS:
            # Else the server's first lines would push the log-ins off the screen.
            call_command("forward_events", once=True, stdout=io.StringIO())

    def _check(self, run: CrawlRun | None) -> None:
        if run is not None and run.status == CrawlRun.Status.FAILED:
            raise CommandError(f"The crawl of {run.system.code} failed: {run.error}")

    def _empty(self) -> None:
        self._say("Emptying the database.")
        if connection.vendor == "sqlite":
            name = str(connection.settings_dict["NAME"])
            connection.close()
            for suffix in ("", "-wal", "-shm"):
                Path(name + suffix).unlink(missing_ok=True)
        else:
            with connection.cursor() as cursor:
                cursor.execute("DROP SCHEMA public CASCADE")
                cursor.execute("CREATE SCHEMA public")
        for file in stand_in.folder().glob("*.sqlite3"):
            file.unlink()

    def _bring_up_to_date(self) -> None:
        """The tables and the type catalogues, so that an empty database will do."""
        self._say("Preparing the database …")
        call_command("migrate", verbosity=0)
        call_command("seed_data_types", stdout=io.StringIO())

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()
