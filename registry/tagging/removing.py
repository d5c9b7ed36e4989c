"""Taking a confirmed tag away: one person asks, another confirms, and one of the two may approve what breaks."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from aide.accounts.roles import Capability, can
from aide.audit.entries import record
from aide.core.errors import Forbidden, NotFound
from registry.models import FieldTag
from registry.tagging.telling import entry_of

_ASKED = ["removal_by", "removal_at", "removal_reason", "updated_at"]


def people_needed() -> int:
    """How many different people it takes to remove a confirmed tag."""
    return 1 if settings.AIDE_FOUR_EYES == "off" else 2


def why_not_second(row: FieldTag, *, by: Any) -> str:
    """Why this person cannot confirm the removal that waits, in words; empty when they can."""
    if row.removal_by_id == by.pk:
        return "You asked for this removal; another person must confirm."
    system = row.field.dataset.system
    if not can(by, Capability.APPROVE_BREAKING, system) and not can(
        row.removal_by, Capability.APPROVE_BREAKING, system
    ):
        return "One of the two people must be an approver."
    return ""


@transaction.atomic
def remove(tagged: FieldTag, *, by: Any, reason: str = "", batch: str = "") -> FieldTag:
    """Ask for the removal of a confirmed tag, or confirm what another person asked for.

    The answer is the tag, still confirmed with `removal_by` while it waits, or its successor, removed. Raises
    FOUR_EYES_REQUIRED when the person who asked tries to confirm.
    """
    row = _locked(tagged)
    if row.removal_by_id is None and people_needed() > 1:
        row.removal_by, row.removal_at, row.removal_reason = by, timezone.now(), reason
        row.save(update_fields=_ASKED)
        record(entry_of("tag.ask_removal", row, reason=reason), by=by, batch=batch)
        return row
    if row.removal_by_id is not None and people_needed() > 1:
        refusal = why_not_second(row, by=by)
        if refusal:
            raise Forbidden("FOUR_EYES_REQUIRED", refusal)
    return _end(row, by=by, reason=reason, batch=batch)


@transaction.atomic
def keep(tagged: FieldTag, *, by: Any, reason: str = "") -> FieldTag:
    """The removal that waits is called off; the tag stays as it is."""
    row = _locked(tagged)
    if row.removal_by_id is None:
        raise NotFound("FIELD_TAG_NOT_FOUND", "No removal of this tag waits.")
    row.removal_by, row.removal_at, row.removal_reason = None, None, ""
    row.save(update_fields=_ASKED)
    record(entry_of("tag.keep", row, reason=reason), by=by)
    return row


def _locked(tagged: FieldTag) -> FieldTag:
    rows = FieldTag.objects.select_for_update(of=("self",)).select_related(
        "field__dataset__system", "tag", "removal_by"
    )
    row = rows.filter(pk=tagged.pk, until__isnull=True, state=FieldTag.State.CONFIRMED).first()
    if row is None:
        raise NotFound("FIELD_TAG_NOT_FOUND", "The field does not carry this tag.")
    return row


def _end(row: FieldTag, *, by: Any, reason: str, batch: str) -> FieldTag:
    now = timezone.now()
    asked = row.removal_by
    first, second = (asked, by) if asked is not None and asked.pk != by.pk else (by, None)
    why = row.removal_reason or reason
    row.until, row.removal_by, row.removal_at, row.removal_reason = now, None, None, ""
    row.save(update_fields=["until", *_ASKED])
    gone = FieldTag.objects.create(
        field=row.field,
        tag=row.tag,
        state=FieldTag.State.REMOVED,
        origin=row.origin,
        rule=row.rule,
        rule_version=row.rule_version,
        evidence=row.evidence,
        native_type=row.native_type,
        reason=why,
        decided_by=first,
        second_by=second,
        decided_at=now,
        batch=batch,
        since=now,
    )
    people = {"asked_by": first.get_username()} if second is not None else {}
    record(entry_of("tag.remove", gone, reason=why, **people), by=by, batch=batch)
    return gone
