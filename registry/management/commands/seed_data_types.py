"""`manage.py seed_data_types`: load the bundled type catalogues, or others, as often as you like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry.catalogues import Counts, load
from registry.seeding import SeedInvalid, bundled_files, read_all


class Command(BaseCommand):
    help = "Loads kinds, flavors and data types from seed files. Nothing is ever deleted."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--file",
            nargs="+",
            action="extend",
            type=Path,
            metavar="F",
            help="seed files instead of the bundled ones",
        )
        parser.add_argument("--dry-run", action="store_true", help="tell what would be done, and do nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        files = options["file"] or bundled_files()
        try:
            counts = load(read_all(files), dry_run=options["dry_run"])
        except SeedInvalid as fault:
            raise CommandError(str(fault)) from None
        total = Counts()
        for what, found in counts.items():
            self.stdout.write(f"{what}: {found}")
            total = total.plus(found)
        ending = " (dry run: nothing was written)" if options["dry_run"] else ""
        self.stdout.write(f"total: {total}{ending}")
