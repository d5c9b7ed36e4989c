"""Hears of publications and of changed rules, and has suggestions of personal data made for them."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from aide.audit.entries import recorded
from registry.suggesting import suggest_all_soon, suggest_soon

_RULES = frozenset({"pii_tag", "piitag", "piirule"})


@receiver(recorded, dispatch_uid="registry.late_suggesting")
def look(*, entries: list[Any], **_: Any) -> None:
    """A published version is looked at; queued in the transaction that publishes it."""
    published = [
        entry.dataset_id for entry in entries if entry.action == "dataset.publish" and entry.dataset_id
    ]
    if published:
        suggest_soon(published)
    if any(entry.object_type in _RULES for entry in entries):
        suggest_all_soon()
