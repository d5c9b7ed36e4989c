"""`manage.py import_events`: takes over the events of a file, as JSON lines or as a log of the logging service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aide.audit.origin import Origin, acting
from lineage.importing import Taken, take_lines


class Command(BaseCommand):
    help = "Stores the events of a file; reading the same file again brings nothing twice."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="A file of JSON lines or a log; - reads from standard input.")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        with acting(Origin(via="command")):
            taken = self._take(file)
        self.stdout.write(
            f"{taken.stored} stored, {taken.duplicate} known already, {taken.refused} refused,"
            f" {taken.skipped} lines without an event."
        )
        for reason in taken.reasons:
            self.stderr.write(reason)
        if taken.refused:
            raise CommandError(f"{taken.refused} events were refused.")

    def _take(self, file: str) -> Taken:
        if file == "-":
            return take_lines(sys.stdin.buffer)
        try:
            with Path(file).open("rb") as lines:
                return take_lines(lines)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
