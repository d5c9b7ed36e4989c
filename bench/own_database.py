"""A migrated PostgreSQL database for a benchmark: the one of AIDE_DATABASE_URL, else one of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_database() -> Iterator[None]:
    """Django is set up inside; a server that was started for it ends with it."""
    from tests.servers import PostgresServer

    server = None if os.environ.get("AIDE_DATABASE_URL") else PostgresServer()
    try:
        if server is not None:
            os.environ["AIDE_DATABASE_URL"] = server.create_database("bench").replace("+psycopg", "")
        os.environ.setdefault("AIDE_DEBUG", "1")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aide.settings")
        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", verbosity=0)
        yield
        connections.close_all()
    finally:
        if server is not None:
            server.close()
