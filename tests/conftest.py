"""Fixtures of every suite. The product's SQLite database is a file, so that threads see each other's commits."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    from django.conf import settings

    database: dict[str, Any] = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        folder = Path(tempfile.gettempdir())
        database.setdefault("TEST", {})["NAME"] = str(folder / f"aide-tests-{os.getpid()}.db.sqlite3")


@functools.cache
def _seeds() -> Any:
    from registry.seeding import bundled_files, read_all

    return tuple(read_all(bundled_files()))


@functools.cache
def _seeded_rows() -> list[tuple[str, list[tuple[Any, ...]]]]:
    """What loading the bundled catalogues writes, as (statement, rows); the load itself is undone."""
    from django.db import connection, transaction

    from registry.catalogues import load
    from registry.models import DataType, SystemFlavor, SystemKind

    found = []
    with transaction.atomic(), connection.cursor() as cursor:
        load(_seeds())
        for model in (SystemKind, SystemFlavor, DataType):
            table = model._meta.db_table
            cursor.execute(f"SELECT * FROM {table} ORDER BY id")
            names = ", ".join(f'"{column[0]}"' for column in cursor.description)
            places = ", ".join(["%s"] * len(cursor.description))
            found.append((f"INSERT INTO {table} ({names}) VALUES ({places})", cursor.fetchall()))
        transaction.set_rollback(True)
    return found


@pytest.fixture
def type_catalogues(db: None) -> None:
    """The bundled kinds, flavors and data types: the same rows for every test, so that what is kept of them stays."""
    from django.db import connection

    with connection.cursor() as cursor:
        for statement, rows in _seeded_rows():
            cursor.executemany(statement, rows)


@pytest.fixture(autouse=True, scope="session")
def _what_tests_commit_is_deleted() -> Iterator[None]:
    """Tests that commit empty the database afterwards: its guard would refuse that, and Django's own way is slow."""
    from django.test import TransactionTestCase

    from aide.audit import guard

    def emptied(case: TransactionTestCase) -> None:
        with guard.lifted():
            _empty_every_table()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", emptied)
        yield


def _empty_every_table() -> None:
    """Delete all rows but those that migrating makes of the models alone; few tables hold any, and keys wait."""
    from django.db import connection, transaction

    kept = {"django_migrations", "django_content_type", "auth_permission"}
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = [connection.ops.quote_name(name) for name in names if name not in kept]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT " + ", ".join(f"EXISTS (SELECT 1 FROM {table})" for table in tables))
        for table, is_filled in zip(tables, cursor.fetchone(), strict=True):
            if is_filled:
                cursor.execute(f"DELETE FROM {table}")
