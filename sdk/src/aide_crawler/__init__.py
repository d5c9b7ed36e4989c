"""The crawling engine: a connection URL and a scope in, a snapshot of the schemas out. No Django."""

from __future__ import annotations

from aide_crawler.errors import CrawlError, ScopeInvalid, SnapshotInvalid
from aide_crawler.inspection import inspect
from aide_crawler.limits import Limits, Progress
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Coverage, ObjectCoverage, SchemaCoverage, Snapshot

__all__ = [
    "Coverage",
    "CrawlError",
    "Limits",
    "ObjectCoverage",
    "Progress",
    "SchemaCoverage",
    "Scope",
    "ScopeInvalid",
    "Snapshot",
    "SnapshotInvalid",
    "inspect",
]
