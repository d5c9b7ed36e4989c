"""`manage.py serve`: the web application on the production server."""

from __future__ import annotations

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor

from aide.work.serving import Server, why_not_listen


def port_number(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError("must be from 1 to 65535")
    return number


class Command(BaseCommand):
    help = "Serve the web application; without a broker, queued work is done here too."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
        parser.add_argument("--port", default=8000, type=port_number, help="the port to listen on")
        parser.add_argument("--workers", default=1, type=int, help="how many processes")

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        if workers < 1:
            raise CommandError("--workers must be at least 1.")
        self._refuse_old_tables()
        if trouble := why_not_listen(host, port):
            raise CommandError(f"{trouble} Choose another with --port.")

        def announce() -> None:
            shown = f"[{host}]" if ":" in host else host
            work = "by Celery workers" if settings.AIDE_BROKER_URL else "in this process"
            self.stdout.write(f"AIDE is at http://{shown}:{port}/ (queued work is done {work}; Ctrl+C stops)")
            self.stdout.flush()

        connections.close_all()
        Server(host=host, port=port, workers=workers, announce=announce).run()

    def _refuse_old_tables(self) -> None:
        try:
            executor = MigrationExecutor(connection)
        except DatabaseError as error:
            raise CommandError(
                f"The database of AIDE_DATABASE_URL cannot be opened ({type(error).__name__})."
            ) from error
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("The database is older than the program. Run `manage.py migrate` first.")
