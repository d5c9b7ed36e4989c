"""`manage.py export_model`: a data model as a file for a drawing tool, AIDE's own or a registered system's."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from registry import diagrams
from registry.models import System


class Command(BaseCommand):
    help = "Prints a data model for ChartDB: AIDE's own tables, or the present schemas of a system."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--format", choices=["chartdb"], required=True, help="the format of the file")
        parser.add_argument("--system", metavar="CODE", help="a system's code; without it AIDE's own model")

    def handle(self, *args: Any, system: str | None, **options: Any) -> None:
        if system is None:
            found = diagrams.of_ourselves()
        else:
            row = System.objects.alive().select_related("flavor").filter(code=system).first()
            if row is None:
                raise CommandError(f"There is no system with the code {system}.")
            found = diagrams.of_system(row)
        self.stdout.write(json.dumps(found, indent=1, ensure_ascii=False))
