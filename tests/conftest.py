"""Fixtures of every suite. The product's SQLite database is a file, so that threads see each other's commits."""

from __future__ import annotations

import os
import tempfile
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


@pytest.fixture
def type_catalogues(db: None) -> None:
    """The bundled kinds, flavors and data types."""
    from registry.catalogues import load
    from registry.seeding import bundled_files, read_all

    load(read_all(bundled_files()))
