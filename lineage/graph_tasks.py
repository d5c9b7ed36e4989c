"""Queued work of the graph: events that could not be merged at once, and names that may have become known."""

from __future__ import annotations

from aide.work.registry import every_tick, task
from lineage import resolve, tag_propagation
from lineage.merging import merge, merge_again, redrawing


@task("lineage.merge_again", lease_seconds=300)
def merge_kept_events() -> None:
    """Merge what was only kept; what cannot be merged stays with its reason."""
    merge_again()


@task(merge.REDRAW, lease_seconds=300)
def redraw_job(job_id: int) -> None:
    """Take back what a run drew before it read and wrote too many datasets."""
    redrawing.redraw(job_id)


@task(resolve.TASK, lease_seconds=300)
def resolve_names() -> None:
    """Look names up again after the registry changed."""
    resolve.resolve_again()


@task(tag_propagation.TASK, lease_seconds=300)
def propagate_tags() -> None:
    """Work out anew where confirmed tags get to."""
    tag_propagation.propagate()


@every_tick(tag_propagation.TASK)
def propagate_over_new_edges() -> None:
    """Queue a propagation when columns have edges that this process has not seen yet."""
    tag_propagation.propagate_over_new_edges()
