"""A batch of suggestions undone as one: a person's no to what of it nobody has decided yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from aide.audit.entries import new_batch
from aide.core.errors import NotFound
from registry.models import FieldTag, System
from registry.tagging.deciding import reject_many


@dataclass(frozen=True)
class Undone:
    """How many suggestions were refused, and how many were decided or withdrawn before and stay as they are."""

    undone: int
    settled: int


def systems_of(batch: str) -> list[System]:
    """The systems in which suggestions of a batch still wait."""
    waiting = FieldTag.objects.filter(batch=batch, state=FieldTag.State.SUGGESTED, until__isnull=True)
    return list(System.objects.filter(pk__in=waiting.values("field__dataset__system")).order_by("code"))


@transaction.atomic
def undo(batch: str, *, by: Any, reason: str = "The whole batch was undone") -> Undone:
    """No to every suggestion of a batch that still waits; it is remembered as any rejection is."""
    made = FieldTag.objects.filter(batch=batch, state=FieldTag.State.SUGGESTED)
    if not batch or not made.exists():
        raise NotFound("BATCH_NOT_FOUND", "There is no such batch of suggestions.")
    waiting = list(made.filter(until__isnull=True).select_related("field__dataset__system", "tag"))
    settled = made.filter(until__isnull=False).count()
    reject_many([(row, reason) for row in waiting], by=by, batch=new_batch())
    return Undone(len(waiting), settled)
