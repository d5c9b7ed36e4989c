"""The files that stand behind the demo's systems when somebody crawls them. Only the demo uses it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from crawling import stand_in
from registry.models import System

LASTS = 10.0
"""Seconds that a crawl of a whole system takes, so that there is something to watch and to cancel."""
LEAST = 0.2


def write_source(system: System, documents: Collection[Any], *, database: str = "") -> None:
    """Put what the source shows where a crawl of the system finds it."""
    path = stand_in.folder() / f"{system.code}.sqlite3"
    stand_in.write(path, documents, dialect=_dialect(system), database=database or None)


def extra_for(code: str, tables: int) -> dict[str, Any]:
    """What the system says of its stand-in."""
    return {
        stand_in.FILE: f"{code}.sqlite3",
        stand_in.PACE: round(max(LASTS / max(tables, 1), LEAST), 2),
    }


def _dialect(system: System) -> str:
    accepted = system.flavor.sqlalchemy_dialects
    return str(accepted[0]) if accepted else system.flavor.code
