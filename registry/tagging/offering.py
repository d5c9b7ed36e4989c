"""Suggestions: what rules or lineage say of fields now becomes open rows for people to decide, in bulk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.audit.entries import Entry, record
from aide.core import bulk
from registry.models import Field, FieldTag
from registry.tagging.memory import Claim, Refusal, cause_of

CHUNK = 500
SAID = ("confidence", "rule", "rule_version", "evidence", "native_type", "name_only", "path")
REFUSED = (FieldTag.State.REJECTED, FieldTag.State.REMOVED)
Place = tuple[int, int]


@dataclass
class Offered:
    """How many suggestions are new, say something else, or are withdrawn; `held` were said no to before."""

    new: int = 0
    changed: int = 0
    withdrawn: int = 0
    held: int = 0


@dataclass
class _Plan:
    ended: list[FieldTag] = field(default_factory=list)
    made: list[FieldTag] = field(default_factory=list)
    changed: list[FieldTag] = field(default_factory=list)
    withdrawn: list[FieldTag] = field(default_factory=list)
    held: int = 0


@transaction.atomic
def offer(
    claims: Iterable[Claim], *, fields: Iterable[int], origin: FieldTag.Origin, batch: str = ""
) -> Offered:
    """All that `origin` says now about these fields. What it said before and says no more is withdrawn.

    Nobody's decision is touched: confirmed tags stay, and what was said no to comes back only with a cause, which
    the suggestion then tells. Takes a number of statements that grows with batches of 500 fields.
    """
    by_field: dict[int, dict[int, Claim]] = defaultdict(dict)
    for claim in claims:
        by_field[claim.field_id].setdefault(claim.tag_id, claim)
    total, now = Offered(), timezone.now()
    told: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    ids = sorted(set(fields))
    for start in range(0, len(ids), CHUNK):
        some = ids[start : start + CHUNK]
        plan = _plan(some, by_field, origin=origin, batch=batch, now=now)
        bulk.update([*plan.ended, *plan.withdrawn], ["until", "updated_at"])
        bulk.update(plan.changed, [*SAID, "returned", "updated_at"])
        bulk.insert(plan.made)
        for place, rows in enumerate((plan.made, plan.changed, plan.withdrawn)):
            for row in rows:
                told[row.field_id][place] += 1
        total.new += len(plan.made)
        total.changed += len(plan.changed)
        total.withdrawn += len(plan.withdrawn)
        total.held += plan.held
    _announce(told, batch=batch)
    return total


def _plan(
    ids: Sequence[int],
    claims: dict[int, dict[int, Claim]],
    *,
    origin: FieldTag.Origin,
    batch: str,
    now: datetime,
) -> _Plan:
    present, refusals = _known(ids)
    plan = _Plan()
    for field_id in ids:
        for tag_id, claim in claims.get(field_id, {}).items():
            place = (field_id, tag_id)
            _settle(plan, claim, present.get(place), refusals.get(place, []), origin, batch, now)
    for (field_id, tag_id), row in present.items():
        is_claimed = tag_id in claims.get(field_id, {})
        if not is_claimed and row.state == FieldTag.State.SUGGESTED and row.origin == origin:
            plan.withdrawn.append(_ended(row, now))
    return plan


def _settle(
    plan: _Plan,
    claim: Claim,
    row: FieldTag | None,
    refusals: list[Refusal],
    origin: FieldTag.Origin,
    batch: str,
    now: datetime,
) -> None:
    state = row.state if row is not None else None
    if state == FieldTag.State.CONFIRMED or (
        row is not None and state == FieldTag.State.SUGGESTED and row.origin != origin
    ):
        return
    cause = cause_of(claim, refusals)
    if cause is None:
        plan.held += 1
        if row is not None and state == FieldTag.State.SUGGESTED:
            plan.withdrawn.append(_ended(row, now))
        return
    said = _said(claim)
    if row is not None and state == FieldTag.State.SUGGESTED:
        if any(getattr(row, name) != value for name, value in said.items()):
            for name, value in said.items():
                setattr(row, name, value)
            row.returned = cause or row.returned
            row.updated_at = now
            plan.changed.append(row)
        return
    if row is not None:
        plan.ended.append(_ended(row, now))
    plan.made.append(
        FieldTag(
            field_id=claim.field_id,
            tag_id=claim.tag_id,
            state=FieldTag.State.SUGGESTED,
            origin=origin,
            returned=cause,
            batch=batch,
            since=now,
            **said,
        )
    )


def _known(ids: Sequence[int]) -> tuple[dict[Place, FieldTag], dict[Place, list[Refusal]]]:
    """The open rows of some fields, locked, and every no that people still stand by."""
    rows = FieldTag.objects.select_for_update().filter(field_id__in=ids, until__isnull=True).order_by("pk")
    present = {(row.field_id, row.tag_id): row for row in rows}
    refusals: dict[Place, list[Refusal]] = defaultdict(list)
    said = FieldTag.objects.filter(field_id__in=ids, state__in=REFUSED, taken_back=False).order_by("pk")
    for row in said:
        refusals[row.field_id, row.tag_id].append(
            Refusal(row.rule, row.rule_version, row.evidence, row.native_type, row.reason, row.decided_at)
        )
    return present, refusals


def _said(claim: Claim) -> dict[str, Any]:
    return {
        "confidence": claim.confidence,
        "rule": claim.rule,
        "rule_version": claim.rule_version,
        "evidence": claim.evidence,
        "native_type": claim.native_type,
        "name_only": claim.name_only,
        "path": list(claim.path),
    }


def _ended(row: FieldTag, now: datetime) -> FieldTag:
    row.until = now
    row.updated_at = now
    return row


def _announce(told: dict[int, list[int]], *, batch: str) -> None:
    """One entry for each dataset whose suggestions are others than before."""
    if not told:
        return
    by_dataset: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    names: dict[int, tuple[str, str]] = {}
    ids = sorted(told)
    for start in range(0, len(ids), CHUNK):
        rows = Field.objects.filter(pk__in=ids[start : start + CHUNK]).values_list(
            "pk", "dataset_id", "dataset__name", "dataset__system__code"
        )
        for pk, dataset_id, name, system in rows:
            names[dataset_id] = (name, system)
            for place, count in enumerate(told[pk]):
                by_dataset[dataset_id][place] += count
    record(
        *(
            Entry(
                "tag.suggest", "field_tag", None, names[pk][0],
                system_code=names[pk][1], dataset_id=pk, touches_pii=True,
                after={"new": new, "changed": changed, "withdrawn": withdrawn},
            )
            for pk, (new, changed, withdrawn) in sorted(by_dataset.items())
        ),
        batch=batch,
    )  # fmt: skip
