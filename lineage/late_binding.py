"""Hears of changes in the registry that may make names of the graph known, and has them looked up again."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from aide.audit.entries import recorded
from lineage.resolve import resolve_soon

_TELLING = frozenset({"dataset", "system", "schema_version"})


@receiver(recorded, dispatch_uid="lineage.late_binding")
def look_again(*, entries: list[Any], **_: Any) -> None:
    """Datasets and systems that are made, renamed, published or brought back may be what events spoke of."""
    if any(entry.object_type in _TELLING for entry in entries):
        resolve_soon()
