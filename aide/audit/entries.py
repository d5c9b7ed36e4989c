"""Recording what was done. A rule that changes something calls record() in its own transaction."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from aide.audit import origin
from aide.audit.marks import CONTENT, mark_of
from aide.audit.models import AuditEntry
from aide.core import bulk
from aide.work.queue import enqueue

recorded = Signal()
"""Sent with `entries` (saved AuditEntry rows) in the transaction; a listener that fails undoes the change."""


@dataclass(frozen=True)
class Entry:
    """What to record. `subject` is the object; `before` and `after` are JSON-ready and hold no secret."""

    action: str
    object_type: str
    object_id: str | int | None
    object_name: str
    system_code: str = ""
    dataset_id: int | None = None
    risk: str = ""
    touches_pii: bool = False
    before: Any = None
    after: Any = None
    reason: str = ""


def new_batch() -> str:
    """A key that joins the entries of one act."""
    return uuid.uuid4().hex


def record(*entries: Entry, by: Any = None, batch: str = "") -> list[AuditEntry]:
    """Add entries in the caller's transaction and announce them once.

    `by` is the acting user (None: the product itself). Returns the saved rows in the given order.
    """
    now = timezone.now()
    where = origin.current()
    name, roles = _person(by)
    rows = [
        AuditEntry(
            at=now,
            actor=by,
            actor_name=name,
            actor_roles=roles,
            via=where.via,
            action=entry.action,
            object_type=entry.object_type,
            object_id="" if entry.object_id is None else str(entry.object_id),
            object_name=entry.object_name[:1000],
            system_code=entry.system_code,
            dataset_id=entry.dataset_id,
            risk=entry.risk,
            touches_pii=entry.touches_pii,
            before=entry.before,
            after=entry.after,
            reason=entry.reason,
            batch=batch,
            request_id=where.request_id[:64],
            ip=where.ip[:64],
            user_agent=where.user_agent[:400],
        )
        for entry in entries
    ]
    if not rows:
        return []
    for row in rows:
        row.mark = mark_of({name: getattr(row, name) for name in CONTENT})
    bulk.insert(rows)
    recorded.send(sender=AuditEntry, entries=rows)
    transaction.on_commit(_seal_soon, robust=True)
    return rows


def _seal_soon() -> None:
    # After the commit: the waiting key is unique, so within it one long transaction would hold up all others.
    enqueue("audit.seal", key="audit.seal")


def _person(by: Any) -> tuple[str, str]:
    if by is None:
        return "", ""
    roles = ",".join(sorted(group.name for group in by.groups.all()))
    return by.get_username(), roles
