"""PII tags on fields: suggest, confirm, reject, remove. The only writer of field tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, new_batch, record
from aide.core.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from registry.models import Field, FieldTag, PIITag


@transaction.atomic
def confirm(field: Field, tag: PIITag, *, by: Any, reason: str = "", batch: str = "") -> FieldTag:
    """A person says that a field holds this kind of personal data; a suggestion of it is thereby accepted."""
    now = timezone.now()
    current = _current(field, tag)
    if current is not None and current.state == FieldTag.State.CONFIRMED:
        return current
    if current is not None:
        _end(current, now)
    row = FieldTag.objects.create(
        field=field,
        tag=tag,
        state=FieldTag.State.CONFIRMED,
        origin=current.origin if current is not None else FieldTag.Origin.PERSON,
        confidence=current.confidence if current is not None else None,
        rule=current.rule if current is not None else "",
        rule_version=current.rule_version if current is not None else "",
        evidence=current.evidence if current is not None else "",
        reason=reason,
        decided_by=by,
        decided_at=now,
        since=now,
    )
    _record("tag.confirm", row, by=by, reason=reason, batch=batch)
    return row


@transaction.atomic
def reject(suggestion: FieldTag, *, reason: str, by: Any, batch: str = "") -> FieldTag:
    """A person says no to a suggestion, and why."""
    if suggestion.state != FieldTag.State.SUGGESTED or suggestion.until is not None:
        raise Conflict("STALE_CHANGE", "This is no open suggestion any more.")
    if not reason.strip():
        raise Invalid(
            detail="A rejection needs a reason.",
            errors=[FieldError("reason", "required", "Say why this is no personal data.")],
        )
    now = timezone.now()
    _end(suggestion, now)
    row = FieldTag.objects.create(
        field=suggestion.field,
        tag=suggestion.tag,
        state=FieldTag.State.REJECTED,
        origin=suggestion.origin,
        confidence=suggestion.confidence,
        rule=suggestion.rule,
        rule_version=suggestion.rule_version,
        evidence=suggestion.evidence,
        reason=reason,
        decided_by=by,
        decided_at=now,
        since=now,
    )
    _record("tag.reject", row, by=by, reason=reason, batch=batch)
    return row


@transaction.atomic
def remove(field: Field, tag: PIITag, *, by: Any, second: Any = None, reason: str = "") -> FieldTag:
    """Take a confirmed tag away. Two different people are needed unless four eyes are off."""
    current = _current(field, tag)
    if current is None or current.state != FieldTag.State.CONFIRMED:
        raise NotFound("FIELD_TAG_NOT_FOUND", "The field does not carry this tag.")
    if settings.AIDE_FOUR_EYES != "off" and (second is None or second.pk == by.pk):
        raise Forbidden("FOUR_EYES_REQUIRED", "Removing a confirmed tag needs a second person.")
    now = timezone.now()
    _end(current, now)
    row = FieldTag.objects.create(
        field=field,
        tag=tag,
        state=FieldTag.State.REMOVED,
        origin=FieldTag.Origin.PERSON,
        reason=reason,
        decided_by=by,
        decided_at=now,
        since=now,
    )
    _record("tag.remove", row, by=by, reason=reason)
    return row


@transaction.atomic
def decide(
    *, accept: Iterable[FieldTag], reject_with: Mapping[FieldTag, str], by: Any
) -> dict[str, list[FieldTag]]:
    """Accept and reject suggestions in one batch, all or nothing."""
    batch = new_batch()
    accepted = []
    for suggestion in accept:
        if suggestion.state != FieldTag.State.SUGGESTED or suggestion.until is not None:
            raise Conflict("STALE_CHANGE", f"{suggestion.pk} is no open suggestion any more.")
        accepted.append(confirm(suggestion.field, suggestion.tag, by=by, batch=batch))
    rejected = [
        reject(suggestion, reason=reason, by=by, batch=batch) for suggestion, reason in reject_with.items()
    ]
    return {"accepted": accepted, "rejected": rejected}


def _current(field: Field, tag: PIITag) -> FieldTag | None:
    return FieldTag.objects.select_for_update().filter(field=field, tag=tag, until__isnull=True).first()


def _end(row: FieldTag, now: Any) -> None:
    row.until = now
    row.save(update_fields=["until", "updated_at"])


def _record(action: str, row: FieldTag, *, by: Any, reason: str, batch: str = "") -> None:
    dataset = row.field.dataset
    record(
        Entry(
            action,
            "field",
            row.field_id,
            row.field.path,
            system_code=dataset.system.code,
            dataset_id=dataset.pk,
            touches_pii=True,
            after={"tag": row.tag.code, "state": row.state},
            reason=reason,
        ),
        by=by,
        batch=batch,
    )
