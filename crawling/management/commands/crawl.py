"""`manage.py crawl SYSTEM`: crawl here and now, and print what was found."""

from __future__ import annotations

import argparse
from typing import Any

from aide_crawler.scope import split_list
from django.core.management.base import BaseCommand, CommandError

from aide.audit.origin import Origin, acting
from aide.core.errors import DomainError
from crawling import crawl, report
from crawling.models import CrawlRun
from registry.models import System

FILTERS = ("schemas", "tables", "exclude_schemas", "exclude_tables")


class Command(BaseCommand):
    help = "Crawl a system here and now, and print what differs from the registry; proposals wait for review."
    requires_system_checks = ()  # they load every page and route, which takes longer than many a crawl

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("system", help="the system's code")
        for name in FILTERS:
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                action="append",
                default=[],
                metavar="A,B",
                help="names with * and ? as wildcards, separated by commas",
            )
        parser.add_argument("--dry-run", action="store_true", help="only report, propose nothing")

    def handle(self, *args: Any, system: str, dry_run: bool, **options: Any) -> None:
        config = {
            name: [part for text in options[name] for part in split_list(text)]
            for name in FILTERS
            if options[name]
        }
        try:
            with acting(Origin(via="command")):
                run = crawl.crawl_now(
                    _system(system), config=config, trigger=CrawlRun.Trigger.COMMAND, dry_run=dry_run
                )
        except DomainError as error:
            raise CommandError("\n".join(_sentences(error))) from None
        if not run.report:
            raise CommandError(run.error or f"The run ended: {run.get_status_display().lower()}.")
        self.stdout.write(report.text(run.report), ending="")


def _system(code: str) -> System:
    found = System.objects.alive().select_related("flavor", "credential_ref").filter(code=code).first()
    if found is None:
        raise CommandError(f"There is no system with the code {code}.")
    return found


def _sentences(error: DomainError) -> list[str]:
    return [error.detail, *(each["detail"] for each in error.errors if each["detail"] != error.detail)]
