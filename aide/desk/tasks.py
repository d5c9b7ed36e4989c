"""Background work of the desk: batches above a thousand rows, and forgetting what is over."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from aide.desk.bulk import applying
from aide.desk.models import KEPT, Batch, Selection
from aide.work.registry import every_tick, task

BATCHES_KEPT = timedelta(days=30)


@task(applying.TASK, lease_seconds=60, max_attempts=5)
def carry_out(batch_id: str) -> None:
    """Carry a batch out, from where a worker before may have stopped."""
    applying.carry_out(batch_id)


@task(applying.UNDO_TASK, lease_seconds=60, max_attempts=5)
def undo(batch_id: str) -> None:
    """Undo a batch, from where a worker before may have stopped."""
    applying.carry_out_undoing(batch_id)


@every_tick("desk.forget")
def forget() -> None:
    """Selections live for a day; what batches did stays in the audit log for good, and here for a month."""
    now = timezone.now()
    Selection.objects.filter(created_at__lt=now - KEPT).delete()
    Batch.objects.filter(created_at__lt=now - BATCHES_KEPT).exclude(state__in=Batch.ACTIVE).delete()
