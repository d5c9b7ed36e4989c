"""System checks for what must not be forgotten; each has an id and a hint, so nobody meets a traceback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

_MIN_KEY_LENGTH = 50


@register(Tags.security)
def settings_are_complete(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """What `aide.settings` could not read or is missing."""
    return [Error(message, hint=hint, id=number) for number, message, hint in settings.AIDE_SETTINGS_PROBLEMS]


def refuse_to_start() -> None:
    """For servers that are not started by a command, which would run the checks: ends with a sentence each."""
    if settings.AIDE_SETTINGS_PROBLEMS:
        for number, message, hint in settings.AIDE_SETTINGS_PROBLEMS:
            sys.stderr.write(f"({number}) {message}\n    {hint}\n")
        raise SystemExit(3)


@register(Tags.security, deploy=True)
def production_values(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """What runs, but should not run a company's catalogue."""
    found: list[CheckMessage] = []
    if settings.DEBUG:
        found.append(
            Error(
                "AIDE_DEBUG is on.",
                hint="Leave AIDE_DEBUG out, or set it to 0, in production.",
                id="aide.E006",
            )
        )
    elif len(settings.SECRET_KEY) < _MIN_KEY_LENGTH:
        found.append(
            Error(
                "AIDE_SECRET_KEY is short.",
                hint=f"Use at least {_MIN_KEY_LENGTH} random characters.",
                id="aide.E007",
            )
        )
    if "sqlite3" in settings.DATABASES["default"]["ENGINE"]:
        found.append(
            Warning(
                "The database is SQLite.",
                hint="Set AIDE_DATABASE_URL to a PostgreSQL 15+ database in production.",
                id="aide.W001",
            )
        )
    if not settings.AIDE_BROKER_URL:
        found.append(
            Warning(
                "There is no broker, so background work runs inside the web process.",
                hint="Set AIDE_BROKER_URL to a Redis server and run the worker and the beat.",
                id="aide.W002",
            )
        )
    if settings.HTTPS and not settings.CSRF_TRUSTED_ORIGINS:
        found.append(
            Warning(
                "AIDE_CSRF_TRUSTED_ORIGINS is not set.",
                hint="Behind a proxy that ends TLS, set it to the public origin: https://aide.example.com",
                id="aide.W003",
            )
        )
    return found


@register(Tags.database)
def search_is_indexed(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Whether searches by part of a name have their indexes; asked by `check --database default` and `migrate`."""
    connection = connections["default"]
    if "default" not in (databases or ()) or connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations'), to_regclass('registry_field_search')")
        migrations, index = cursor.fetchone()
        if migrations is None or index is not None:
            return []
        cursor.execute(
            "SELECT 1 FROM django_migrations WHERE app = 'registry' AND name = '0004_search_indexes'"
        )
        if cursor.fetchone() is None:
            return []
    return [
        Warning(
            "Searches read whole tables, because the database lacks the extension pg_trgm.",
            hint="Let an administrator of the database run CREATE EXTENSION pg_trgm in it, then run "
            "manage.py migrate registry 0003 and manage.py migrate.",
            id="aide.W010",
        )
    ]
