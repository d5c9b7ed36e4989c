"""Background work of the audit log."""

from __future__ import annotations

from aide.audit import chain
from aide.audit.models import AuditEntry
from aide.work.queue import enqueue
from aide.work.registry import every_tick, task


@task("audit.seal")
def seal() -> None:
    """Seal what is new."""
    chain.seal()


@every_tick("audit.seal")
def seal_leftovers() -> None:
    """Queue a sealing when rows were left unsealed by a crash."""
    if AuditEntry.objects.filter(place__isnull=True).exists():
        enqueue("audit.seal", key="audit.seal")
