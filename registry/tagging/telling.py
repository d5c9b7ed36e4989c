"""How changes of tags stand in the audit log, from where they are announced. For the rules of this package."""

from __future__ import annotations

from typing import Any

from aide.audit.entries import Entry
from registry.models import FieldTag


def entry_of(action: str, row: FieldTag, *, reason: str = "", **after: Any) -> Entry:
    """The entry about one tag of one field; expects the field with its dataset and system, and the tag."""
    dataset = row.field.dataset
    return Entry(
        action,
        "field",
        row.field_id,
        row.field.path,
        system_code=dataset.system.code,
        dataset_id=dataset.pk,
        touches_pii=True,
        after={"tag": row.tag.code, "state": row.state, **after},
        reason=reason,
    )
