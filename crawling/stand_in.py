"""Bundled sources that stand behind systems of the demo, so that they can be crawled where no such server is.

A system names its file in `extra`: `{"stand_in": "pg-crm.sqlite3", "seconds_a_table": 0.8}`. Only with AIDE_DEBUG=1.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aide_crawler import Coverage, CrawlError, Progress, SchemaCoverage, Scope, Snapshot
from django.conf import settings
from django.db import connection

from registry.models import System

FILE, PACE = "stand_in", "seconds_a_table"
LONGEST = 5.0
_TABLES = """
CREATE TABLE source (dialect TEXT NOT NULL, database TEXT);
CREATE TABLE tables (schema TEXT NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (schema, name));
"""
_STEP = 0.1


def folder() -> Path:
    """Where the demo's files lie: beside AIDE's own database when that is a file, else in var/."""
    name = str(connection.settings_dict["NAME"])
    is_file = connection.vendor == "sqlite" and Path(name).is_absolute()
    return (Path(name).parent if is_file else Path(settings.VAR_DIR)) / "demo"


@dataclass(frozen=True)
class StandIn:
    """A file of documents, and how many seconds a look takes for each of them."""

    path: Path
    pause: float = 0.0

    def look(
        self,
        scope: Scope,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> Snapshot:
        """What it holds within a scope, read one by one. Raises CrawlError."""
        dialect, database, listed = self._read(scope)
        schemas = list(dict.fromkeys(schema for schema, _, _ in listed))
        found = []
        for number, (schema, name, document) in enumerate(listed):
            if on_progress is not None:
                done = schemas.index(schema)
                on_progress(Progress(schema, name, done, len(schemas), number, len(listed)))
            self._wait(should_stop)
            found.append(document)
        if on_progress is not None:
            on_progress(Progress(None, None, len(schemas), len(schemas), len(listed), len(listed)))
        coverage = Coverage(
            schemas=tuple(map(SchemaCoverage, schemas)), listed=len(found), read=len(found), all_schemas=True
        )
        return Snapshot(dialect, database, scope, tuple(found), coverage)

    def _read(self, scope: Scope) -> tuple[str, str | None, list[tuple[str, str, dict[str, Any]]]]:
        if not self.path.is_file():
            raise CrawlError("no_such_database", f"The bundled source {self.path.name} is not there.")
        try:
            with closing(sqlite3.connect(self.path)) as file:
                dialect, database = file.execute("SELECT dialect, database FROM source").fetchone()
                rows = file.execute("SELECT schema, name, document FROM tables ORDER BY rowid").fetchall()
        except sqlite3.Error:
            raise CrawlError("failed", f"The bundled source {self.path.name} cannot be read.") from None
        kept = [(schema, name, json.loads(text)) for schema, name, text in rows if scope.covers(schema, name)]
        return dialect, database, kept

    def _wait(self, should_stop: Callable[[], bool] | None) -> None:
        until = time.monotonic() + self.pause
        while True:
            if should_stop is not None and should_stop():
                raise CrawlError("cancelled", "The crawl was cancelled.")
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, _STEP))


def stand_in_of(system: System) -> StandIn | None:
    """What stands behind a system, or None: then its own connection counts."""
    extra = system.extra if isinstance(system.extra, dict) else {}
    name, pace = extra.get(FILE), extra.get(PACE, 0)
    if not settings.DEBUG or not isinstance(name, str) or not name or Path(name).name != name:
        return None
    seconds = float(pace) if isinstance(pace, int | float) else 0.0
    return StandIn(folder() / name, min(max(seconds, 0.0), LONGEST))


def write(
    path: Path, documents: Iterable[Mapping[str, Any]], *, dialect: str, database: str | None = None
) -> None:
    """Make the file anew, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.fresh")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh)) as file:
        file.executescript(_TABLES)
        file.execute("INSERT INTO source VALUES (?, ?)", (dialect, database))
        rows = [(each["schema"] or "", each["name"], json.dumps(each)) for each in documents]
        file.executemany("INSERT INTO tables VALUES (?, ?, ?)", rows)
        file.commit()
    fresh.replace(path)
