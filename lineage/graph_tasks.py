"""Queued work of the graph: events that could not be merged at once, and names that may have become known."""

from __future__ import annotations

from aide.work.registry import task
from lineage import resolve
from lineage.merging import merge_again


@task("lineage.merge_again", lease_seconds=300)
def merge_kept_events() -> None:
    """Merge what was only kept; what cannot be merged stays with its reason."""
    merge_again()


@task(resolve.TASK, lease_seconds=300)
def resolve_names() -> None:
    """Look names up again after the registry changed."""
    resolve.resolve_again()
