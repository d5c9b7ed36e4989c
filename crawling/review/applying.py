"""Carrying noted decisions out: reject, wait for a second person, or publish; atomic per batch of datasets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog
from aide_crawler.memory import collecting_later
from django.db import DatabaseError, transaction

from aide.audit.entries import new_batch
from aide.core.errors import DomainError
from crawling.models import Change, CrawlRun, Proposal
from crawling.review.case import Case, load_cases
from crawling.review.following import held_back, renames_first
from crawling.review.putting import put_in_force
from crawling.review.verdicts import settle, write_settled

log = structlog.get_logger(__name__)
BATCH = 500


@dataclass
class Outcome:
    """What applying did, in the API's shape."""

    applied: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    stale: list[dict[str, Any]] = field(default_factory=list)
    rejected: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, list[dict[str, Any]]]:
        return {
            "applied": self.applied,
            "waiting": self.waiting,
            "stale": self.stale,
            "rejected": self.rejected,
            "failed": self.failed,
        }

    def add(self, other: Outcome) -> None:
        for name, rows in self.to_dict().items():
            rows.extend(getattr(other, name))


def apply(proposals: Iterable[Proposal], *, by: Any, comment: str = "") -> Outcome:
    """Carry out what is noted on these proposals.

    Each decision counts for the person who noted it. Datasets are published in batches; a batch that fails is tried
    again in halves, so that only the broken datasets stay open, with the reason. Nothing noted: an empty outcome.
    """
    return _apply([each.pk for each in proposals], by=by, comment=comment, granted=())


def apply_by_plan(run: CrawlRun, *, risks: Collection[str]) -> Outcome:
    """Apply a run's own changes of the risk classes that its plan needs no person for."""
    ids = list(run.proposals.filter(status__in=Proposal.LIVE).values_list("pk", flat=True))
    return _apply(ids, by=None, comment="Approved by the plan.", granted=frozenset(risks))


def _apply(proposal_ids: Sequence[int], *, by: Any, comment: str, granted: Collection[str]) -> Outcome:
    outcome = Outcome()
    batch = new_batch()
    proposal_ids = renames_first(proposal_ids)
    with collecting_later():
        for start in range(0, len(proposal_ids), BATCH):
            chunk = proposal_ids[start : start + BATCH]
            outcome.add(_apply_halves(chunk, by=by, comment=comment, granted=granted, batch=batch))
    return outcome


def _apply_halves(proposal_ids: Sequence[int], **how: Any) -> Outcome:
    """All of a batch, or else of each half as much as can be applied."""
    if len(proposal_ids) == 1:
        return _apply_one(proposal_ids[0], **how)
    try:
        return _apply_batch(proposal_ids, **how)
    except (DatabaseError, DomainError, ValueError) as error:
        log.warning("review.batch_failed", size=len(proposal_ids), error=type(error).__name__)
    middle = len(proposal_ids) // 2
    outcome = _apply_halves(proposal_ids[:middle], **how)
    outcome.add(_apply_halves(proposal_ids[middle:], **how))
    return outcome


def _apply_one(proposal_id: int, **how: Any) -> Outcome:
    try:
        return _apply_batch([proposal_id], **how)
    except DomainError as error:
        reason = error.detail
    except ValueError as error:  # CannotApply, DocumentInvalid: a plain sentence without values
        reason = str(error)
    except DatabaseError as error:
        log.error("review.dataset_failed", proposal=proposal_id, error=type(error).__name__)
        reason = "The database refused this dataset; nothing of it was saved."
    noted = Change.objects.filter(proposal_id=proposal_id, draft__verdict="approve")
    return Outcome(failed=[{"change_id": pk, "reason": reason} for pk in noted.values_list("pk", flat=True)])


@transaction.atomic
def _apply_batch(
    proposal_ids: Sequence[int], *, by: Any, comment: str, granted: Collection[str], batch: str
) -> Outcome:
    outcome = Outcome()
    cases = load_cases(proposal_ids)
    _settle_all(cases, by=by, comment=comment, granted=granted)
    put_in_force(cases, by=by, batch=batch)
    write_settled(cases, by=by, batch=batch)
    for case in cases:
        _tell(case, outcome)
    return outcome


def _settle_all(cases: Sequence[Case], **how: Any) -> None:
    """Settle each case; what follows a rename of another one that is not approved waits for it."""
    for case in cases:
        settle(case, **how)
    held = held_back(cases)
    for case in cases:
        if any(change.pk in held for change in case.approved):
            case.unsettle()
            settle(case, held=held, **how)


def _tell(case: Case, outcome: Outcome) -> None:
    if case.applied:
        outcome.applied.append(
            {
                "dataset_id": case.dataset.pk if case.dataset else None,
                "version_num": case.version.version_num if case.version else None,
                "change_ids": [change.pk for change in case.applied],
            }
        )
    outcome.waiting += [{"change_id": change.pk, "needs": needs} for change, needs in case.waiting]
    outcome.stale += [{"change_id": change.pk} for change in case.stale]
    outcome.rejected += [
        {"change_id": change.pk, "reason": decision.reason, "mode": decision.mode}
        for change, decision in case.rejected
    ]
    outcome.failed += [{"change_id": change.pk, "reason": reason} for change, reason in case.failed]
