"""What people decide about tags: their own ones, and yes or no to suggestions, one or many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.audit.entries import new_batch, record
from aide.core import bulk
from aide.core.errors import Conflict, FieldError, Invalid
from registry.models import Field, FieldTag, PIITag
from registry.tagging.telling import entry_of

SAID = (
    "origin",
    "confidence",
    "rule",
    "rule_version",
    "evidence",
    "native_type",
    "name_only",
    "path",
    "returned",
)
MOST = 500


@transaction.atomic
def confirm(field: Field, tag: PIITag, *, by: Any, reason: str = "", batch: str = "") -> FieldTag:
    """A person says that a field holds this kind of personal data; a suggestion of it is thereby accepted."""
    now = timezone.now()
    current = FieldTag.objects.select_for_update().filter(field=field, tag=tag, until__isnull=True).first()
    if current is not None and current.state == FieldTag.State.CONFIRMED:
        return current
    if current is not None:
        bulk.update([_ended(current, now)], ["until", "updated_at"])
    suggestion = current if current is not None and current.state == FieldTag.State.SUGGESTED else None
    row = _decision(
        field, tag, FieldTag.State.CONFIRMED, suggestion, by=by, reason=reason, batch=batch, now=now
    )
    bulk.insert([row])
    record(entry_of("tag.confirm", row, reason=reason), by=by, batch=batch)
    return row


def accept(suggestions: Iterable[FieldTag], *, by: Any, reason: str = "", batch: str = "") -> list[FieldTag]:
    """Yes to suggestions, all or none. Raises STALE_CHANGE where one is none any more."""
    answers = [(row, reason) for row in suggestions]
    return _answer(answers, FieldTag.State.CONFIRMED, "tag.confirm", by=by, batch=batch)


def reject(suggestion: FieldTag, *, reason: str, by: Any, batch: str = "") -> FieldTag:
    """A person says no to a suggestion, and why. The no is remembered."""
    return reject_many([(suggestion, reason)], by=by, batch=batch)[0]


def reject_many(answers: Sequence[tuple[FieldTag, str]], *, by: Any, batch: str = "") -> list[FieldTag]:
    """No to suggestions, each with its reason, all or none."""
    if any(not reason.strip() for _, reason in answers):
        raise Invalid(
            detail="A rejection needs a reason.",
            errors=[FieldError("reason", "required", "Say why this is no personal data.")],
        )
    return _answer(answers, FieldTag.State.REJECTED, "tag.reject", by=by, batch=batch)


@transaction.atomic
def change(suggestion: FieldTag, tag: PIITag, *, by: Any, batch: str = "") -> FieldTag:
    """The field holds personal data, but of another kind: no to the suggestion, and this tag instead."""
    if tag.pk == suggestion.tag_id:
        raise Invalid(
            detail="This is the suggested tag itself.",
            errors=[FieldError("tag", "same", "Choose another tag, or accept the suggestion.")],
        )
    batch = batch or new_batch()
    reject(suggestion, reason=f"Wrong tag: it is {tag.code}", by=by, batch=batch)
    return confirm(suggestion.field, tag, by=by, reason=f"Instead of {suggestion.tag.code}", batch=batch)


@transaction.atomic
def reopen(refused: FieldTag, *, by: Any, batch: str = "") -> FieldTag:
    """A person takes a rejection back; the suggestion waits again, and says who brought it back."""
    rows = FieldTag.objects.select_for_update(of=("self",)).select_related("field__dataset__system", "tag")
    row = rows.filter(pk=refused.pk, state=FieldTag.State.REJECTED, until__isnull=True).first()
    if row is None:
        raise Conflict("STALE_CHANGE", "This is no rejection any more.")
    now = timezone.now()
    FieldTag.objects.filter(
        field_id=row.field_id, tag_id=row.tag_id, state=FieldTag.State.REJECTED, taken_back=False
    ).update(taken_back=True, updated_at=now)
    bulk.update([_ended(row, now)], ["until", "updated_at"])
    fresh = FieldTag(
        field=row.field,
        tag=row.tag,
        state=FieldTag.State.SUGGESTED,
        batch=batch,
        since=now,
        **{name: getattr(row, name) for name in SAID},
    )
    fresh.returned = f"Brought back by {by.get_short_name()}; it was rejected: {row.reason}"
    bulk.insert([fresh])
    record(entry_of("tag.reopen", fresh), by=by, batch=batch)
    return fresh


@transaction.atomic
def decide(
    *,
    accept: Iterable[FieldTag],
    reject_with: Mapping[FieldTag, str],
    by: Any,
    change_to: Mapping[FieldTag, PIITag] | None = None,
    reason: str = "",
) -> dict[str, list[FieldTag]]:
    """Accept, reject and change suggestions in one batch, all or nothing."""
    batch = new_batch()
    accepted = _answer(
        [(row, reason) for row in accept], FieldTag.State.CONFIRMED, "tag.confirm", by=by, batch=batch
    )
    rejected = reject_many(list(reject_with.items()), by=by, batch=batch)
    changed = [change(row, tag, by=by, batch=batch) for row, tag in (change_to or {}).items()]
    return {"accepted": accepted, "rejected": rejected, "changed": changed}


@transaction.atomic
def _answer(
    answers: Sequence[tuple[FieldTag, str]], state: FieldTag.State, action: str, *, by: Any, batch: str
) -> list[FieldTag]:
    if not answers:
        return []
    now = timezone.now()
    reasons = {row.pk: reason for row, reason in answers}
    present: dict[int, FieldTag] = {}
    ids = sorted(reasons)
    rows = FieldTag.objects.select_for_update(of=("self",)).select_related("field__dataset__system", "tag")
    for start in range(0, len(ids), MOST):
        present |= {row.pk: row for row in rows.filter(pk__in=ids[start : start + MOST]).order_by("pk")}
    for pk in ids:
        row = present.get(pk)
        if row is None or row.state != FieldTag.State.SUGGESTED or row.until is not None:
            raise Conflict("STALE_CHANGE", f"{pk} is no open suggestion any more.")
    bulk.update([_ended(present[pk], now) for pk in ids], ["until", "updated_at"])
    made = [
        _decision(
            present[pk].field, present[pk].tag, state, present[pk],
            by=by, reason=reason, batch=batch, now=now,
        )
        for pk, reason in reasons.items()
    ]  # fmt: skip
    bulk.insert(made)
    record(*(entry_of(action, row, reason=row.reason) for row in made), by=by, batch=batch)
    return made


def _decision(
    field: Field,
    tag: PIITag,
    state: FieldTag.State,
    suggestion: FieldTag | None,
    *,
    by: Any,
    reason: str,
    batch: str,
    now: datetime,
) -> FieldTag:
    said = {name: getattr(suggestion, name) for name in SAID} if suggestion is not None else {}
    return FieldTag(
        field=field,
        tag=tag,
        state=state,
        reason=reason,
        decided_by=by,
        decided_at=now,
        batch=batch,
        since=now,
        **said,
    )


def _ended(row: FieldTag, now: datetime) -> FieldTag:
    row.until = now
    row.updated_at = now
    return row
