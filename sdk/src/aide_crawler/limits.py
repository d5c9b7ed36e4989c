"""How long a crawl may take, and how it tells of its progress."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Seconds: to connect, for one statement, for the whole crawl, and to wait for a lock."""

    connect_seconds: float = 10
    statement_seconds: float = 60
    total_seconds: float = 3600
    lock_seconds: float = 5


@dataclass(frozen=True)
class Progress:
    """Where a crawl is: the schema and table at hand, and how many of each are done."""

    schema: str | None
    table: str | None
    schemas_done: int
    schemas_total: int
    tables_done: int
    tables_total: int
