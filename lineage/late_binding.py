"""Hears of changes in the registry: names of the graph that may be known now, and tags that travel along it."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from aide.audit.entries import recorded
from lineage.resolve import resolve_soon
from lineage.tag_propagation import propagate_soon

_TELLING = frozenset({"dataset", "system", "schema_version"})
_TAGGED = frozenset({"tag.confirm", "tag.remove", "tag.reject", "tag.reopen", "tag.undo"})


@receiver(recorded, dispatch_uid="lineage.late_binding")
def look_again(*, entries: list[Any], **_: Any) -> None:
    """Datasets and systems that are made, renamed, published or brought back may be what events spoke of."""
    if any(entry.object_type in _TELLING for entry in entries):
        resolve_soon()
    if any(entry.action in _TAGGED for entry in entries):
        propagate_soon()
