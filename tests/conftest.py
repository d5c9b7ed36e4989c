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


@pytest.fixture
def type_catalogues(db: None) -> None:
    """The bundled kinds, flavors and data types."""
    from registry.catalogues import load

    load(_seeds())


@pytest.fixture(autouse=True, scope="session")
def _the_audit_log_goes_with_a_test_database() -> Iterator[None]:
    """Tests that commit empty the whole database afterwards, and its guard would not let them."""
    from django.test import TransactionTestCase

    from aide.audit import guard

    emptied = TransactionTestCase._fixture_teardown

    def without_guard(case: TransactionTestCase) -> None:
        with guard.lifted():
            emptied(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", without_guard)
        yield
