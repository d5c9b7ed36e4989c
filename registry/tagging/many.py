"""A person's own tags on many fields at once, asking for many removals, and taking one's own act back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core import bulk
from registry.models import Field, FieldTag, PIITag
from registry.tagging.deciding import SAID
from registry.tagging.removing import people_needed
from registry.tagging.telling import entry_of

Pair = tuple[int, int]


@transaction.atomic
def confirm_many(
    pairs: Iterable[tuple[Field, PIITag]], *, by: Any, reason: str = "", batch: str = ""
) -> list[FieldTag]:
    """`confirm` for many pairs in a constant number of statements. What is confirmed already is not in the answer.

    The fields come with their dataset and its system.
    """
    wanted = {(field.pk, tag.pk): (field, tag) for field, tag in pairs}
    current = _open_of(list(wanted))
    now = timezone.now()
    ended, made = [], []
    for pair, (field, tag) in wanted.items():
        before = current.get(pair)
        if before is not None and before.state == FieldTag.State.CONFIRMED:
            continue
        if before is not None:
            ended.append(before)
        suggested = before is not None and before.state == FieldTag.State.SUGGESTED
        said = {name: getattr(before, name) for name in SAID} if suggested else {}
        made.append(
            FieldTag(
                field=field, tag=tag, state=FieldTag.State.CONFIRMED, reason=reason, decided_by=by,
                decided_at=now, batch=batch, since=now, **said,
            )
        )  # fmt: skip
    _replace(ended, made, now)
    record(*(entry_of("tag.confirm", row, reason=reason) for row in made), by=by, batch=batch)
    return made


@transaction.atomic
def ask_removal_many(
    pairs: Iterable[tuple[Field, PIITag]], *, by: Any, reason: str = "", batch: str = ""
) -> list[FieldTag]:
    """Ask for the removal of confirmed tags, for another person to confirm; where one is enough nothing is asked.

    The answer holds those that wait from now on: what is not confirmed, or waits already, is not in it.
    """
    wanted = {(field.pk, tag.pk): (field, tag) for field, tag in pairs}
    if people_needed() < 2:
        return []
    now = timezone.now()
    asked = [
        row
        for row in _open_of(list(wanted)).values()
        if row.state == FieldTag.State.CONFIRMED and row.removal_by_id is None
    ]
    for row in asked:
        row.field, row.tag = wanted[row.field_id, row.tag_id]
        row.removal_by, row.removal_at, row.removal_reason, row.updated_at = by, now, reason, now
    bulk.update(asked, ["removal_by", "removal_at", "removal_reason", "updated_at"])
    record(*(entry_of("tag.ask_removal", row, reason=reason) for row in asked), by=by, batch=batch)
    return asked


@transaction.atomic
def call_off(asked: Iterable[FieldTag], *, by: Any, reason: str = "", batch: str = "") -> list[FieldTag]:
    """Take back what `by` asked to be removed, where it still waits. Returns the rows that stay."""
    wanted = {row.pk: row for row in asked}
    rows = [
        row
        for row in FieldTag.objects.select_for_update()
        .filter(pk__in=list(wanted), until__isnull=True, removal_by=by)
        .order_by("pk")
        if row.state == FieldTag.State.CONFIRMED
    ]
    now = timezone.now()
    for row in rows:
        row.field, row.tag = wanted[row.pk].field, wanted[row.pk].tag
        row.removal_by, row.removal_at, row.removal_reason, row.updated_at = None, None, "", now
    bulk.update(rows, ["removal_by", "removal_at", "removal_reason", "updated_at"])
    record(*(entry_of("tag.keep", row, reason=reason) for row in rows), by=by, batch=batch)
    return rows


@transaction.atomic
def take_back(confirmed: Iterable[FieldTag], *, by: Any, reason: str = "", batch: str = "") -> list[FieldTag]:
    """Undo what `by` confirmed: what stood before each stands again. Returns the rows that were taken back.

    This is for one's own act, soon after it; a confirmed tag is otherwise taken away by two people. Rows that someone
    changed since, those whose removal is asked for and those that somebody else confirmed are left as they are.
    """
    wanted = {(row.field_id, row.tag_id): row for row in confirmed}
    current = _open_of(list(wanted))
    undone = [row for pair, row in wanted.items() if pair in current and _is_own(row, current[pair], by)]
    earlier = {
        (row.field_id, row.tag_id, row.until): row
        for row in FieldTag.objects.filter(
            field__in=[row.field_id for row in undone], tag__in={row.tag_id for row in undone}
        ).exclude(until=None)
    }
    now = timezone.now()
    again = []
    for row in undone:
        before = earlier.get((row.field_id, row.tag_id, row.since))
        if before is not None:
            again.append(_as_before(before, now))
    _replace(undone, again, now)
    stands = {(row.field_id, row.tag_id): row.state for row in again}
    record(*(_undoing(row, stands, reason=reason) for row in undone), by=by, batch=batch)
    return undone


def _is_own(row: FieldTag, current: FieldTag, by: Any) -> bool:
    return (
        current.pk == row.pk
        and current.state == FieldTag.State.CONFIRMED
        and current.removal_by_id is None
        and current.decided_by_id == by.pk
    )


def _as_before(before: FieldTag, now: Any) -> FieldTag:
    own = {"id", "created_at", "updated_at", "since", "until"}
    names = [field.attname for field in FieldTag._meta.concrete_fields if field.attname not in own]
    return FieldTag(**{name: getattr(before, name) for name in names}, since=now)


def _undoing(row: FieldTag, stands: dict[Pair, str], *, reason: str) -> Entry:
    code = row.tag.code
    return replace(
        entry_of("tag.undo", row, reason=reason),
        before={"tag": code, "state": row.state},
        after={"tag": code, "state": stands.get((row.field_id, row.tag_id), "")},
    )


def _open_of(pairs: Sequence[Pair]) -> dict[Pair, FieldTag]:
    """The open rows of these fields and tags, locked."""
    rows = FieldTag.objects.select_for_update().filter(
        field__in={field for field, _ in pairs}, tag__in={tag for _, tag in pairs}, until__isnull=True
    )
    found = {(row.field_id, row.tag_id): row for row in rows.order_by("pk")}
    return {pair: found[pair] for pair in pairs if pair in found}


def _replace(ended: list[FieldTag], made: list[FieldTag], now: Any) -> None:
    for row in ended:
        row.until = row.updated_at = now
    bulk.update(ended, ["until", "updated_at"])
    bulk.insert(made)
