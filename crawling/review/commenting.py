"""What people say about a change, next to deciding it: the only writer of comments."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from aide.audit.entries import Entry, record
from aide.core.errors import FieldError, Invalid
from crawling.models import Change, Comment

LONGEST = 2000


@transaction.atomic
def comment(change: Change, text: str, *, by: Any) -> Comment:
    """Keep what a person says about a change, whatever its state. Refuses an empty or overlong text."""
    text = text.strip()
    if not text or len(text) > LONGEST:
        sentence = f"Write at most {LONGEST:,} characters." if text else "Write something first."
        raise Invalid(
            detail=sentence, errors=[FieldError("text", "invalid" if text else "required", sentence)]
        )
    said = Comment.objects.create(change=change, person=by, text=text)
    proposal = change.proposal
    record(
        Entry(
            "change.comment",
            "change",
            change.pk,
            f"{change.op} {change.field_path or change.dataset_name}",
            system_code=proposal.system.code,
            dataset_id=proposal.dataset_id,
            after={"text": text},
        ),
        by=by,
    )
    return said
