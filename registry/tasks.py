"""Queued work of the registry: suggestions of personal data."""

from __future__ import annotations

from collections.abc import Sequence

from aide.work.queue import enqueue
from aide.work.registry import every_tick, task
from registry import suggesting


@task(suggesting.SUGGEST, lease_seconds=120, max_attempts=5)
def suggest(dataset_ids: Sequence[int]) -> None:
    """Say what the rules find in these datasets."""
    suggesting.suggest(dataset_ids)


@task(suggesting.STALE, lease_seconds=300, max_attempts=5)
def suggest_stale() -> None:
    """Look again at whatever other rules looked at last."""
    suggesting.suggest_stale()


@every_tick(suggesting.STALE)
def look_again_with_new_rules() -> None:
    """Queue a new look when the rules are others than those that looked last, such as after an upgrade."""
    if suggesting.stale().exists():
        enqueue(suggesting.STALE, key=suggesting.STALE)
