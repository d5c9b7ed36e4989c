"""What the audit log records about the registry becomes messages of the catalog topic, in its transaction."""

from __future__ import annotations

import json
import uuid
from typing import Any

from aide.audit.entries import recorded
from aide.audit.models import AuditEntry
from lineage.outbox import Kind, Message, put

ANNOUNCED = frozenset(
    {
        *("system", "dataset", "field", "field_tag", "dataset_schema", "field_binding", "type_instance"),
        *("system_kind", "system_flavor", "data_type", "cast_rule", "pii_tag", "catalogue"),
    }
)
"""The kinds of objects whose changes readers of the catalog follow; people, keys and logs are not among them."""
LARGEST = 700_000
_SPACE = uuid.UUID("6f1f0d52-6c0b-5f0e-9a53-6f2b7c8d4e10")


def announce(sender: Any, *, entries: list[AuditEntry], **kwargs: Any) -> None:
    """Put a message for each entry about the registry. If it fails, the change is undone."""
    put([_message(entry) for entry in entries if entry.object_type in ANNOUNCED])


def _message(entry: AuditEntry) -> Message:
    event_id = uuid.uuid5(_SPACE, f"{entry.pk} {entry.mark}").hex
    said: dict[str, Any] = {
        "event_id": event_id,
        "at": entry.at.isoformat(),
        "action": entry.action,
        "object_type": entry.object_type,
        "object_id": entry.object_id,
        "object_name": entry.object_name,
        "system": entry.system_code,
        "dataset_id": entry.dataset_id,
        "risk": entry.risk,
        "touches_pii": entry.touches_pii,
        "reason": entry.reason,
        "batch": entry.batch,
        "before": entry.before,
        "after": entry.after,
        "is_shortened": False,
    }
    payload = json.dumps(said, ensure_ascii=False, default=str)
    if len(payload.encode()) > LARGEST:
        said |= {"before": None, "after": None, "is_shortened": True}
        payload = json.dumps(said, ensure_ascii=False, default=str)
    return Message(Kind.CATALOG.value, _key(entry), event_id, payload)


def _key(entry: AuditEntry) -> str:
    if entry.dataset_id is not None:
        return f"dataset:{entry.dataset_id}"
    if entry.object_type != "system" and entry.system_code:
        return f"system:{entry.system_code}"
    return f"{entry.object_type}:{entry.system_code or entry.object_id}"


recorded.connect(announce, dispatch_uid="lineage.announcing")
