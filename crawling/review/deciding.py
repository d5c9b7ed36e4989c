"""Drafts: decisions noted on changes, visible to others, carried out by apply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aide_crawler import Scope
from django.db import transaction
from django.db.models import F, prefetch_related_objects

from aide.core.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from crawling.diff import MANY_GONE
from crawling.models import Change, CrawlRun, Draft, Proposal, RejectMode, Verdict
from crawling.review.four_eyes import check_second, first_approval, people_needed, why_not_second

# What a decision does not look at, and what is large.
_OF_PROPOSALS = (
    "proposal__document",
    *(f"proposal__crawl_run__{name}" for name in ("config", "coverage", "summary", "report", "timings")),
)
Selection = Collection[int] | Literal["all", "safe"]


@dataclass(frozen=True)
class Rejection:
    """A no to one change: why, and for how long (`once`, `mute` until the source changes, `exclude`)."""

    change_id: int
    reason: str
    mode: str = RejectMode.MUTE


def proposals_of(run: CrawlRun) -> list[Proposal]:
    """The live proposals that a run stands for: its own, and earlier ones in its scope that it found unchanged.

    A run that proposed nothing by itself (a dry one, one that did not come to its end) stands for none.
    """
    if run.dry_run or run.status not in CrawlRun.LOOKED:
        return []
    live = Proposal.objects.filter(
        system_id=run.system_id,
        origin=Proposal.Origin.CRAWL,
        status__in=Proposal.LIVE,
        crawl_run_id__lte=run.pk,
    ).order_by("id")
    scope = Scope.from_dict(run.config)
    if scope == Scope():
        return list(live.select_related("system"))
    # Where it is, without the whole documents.
    rows: list[Any] = list(
        live.select_related("system").annotate(
            seen_schema=F("observation__document__schema"),
            seen_name=F("observation__document__name"),
            known_location=F("dataset__location"),
        )
    )
    return [each for each in rows if each.crawl_run_id == run.pk or _in(scope, each)]


def _in(scope: Scope, proposal: Any) -> bool:
    if proposal.observation_id is not None:
        return scope.covers(proposal.seen_schema, proposal.seen_name)
    location = proposal.known_location or {}
    return scope.covers(str(location.get("schema", "")), str(location.get("table", proposal.dataset_name)))


@transaction.atomic
def decide(
    proposals: Iterable[Proposal],
    *,
    approve: Selection = (),
    reject: Sequence[Rejection] = (),
    comment: str = "",
    by: Any,
) -> list[Draft]:
    """Note decisions on open changes; the last note on a change stands. Nothing takes effect.

    "all" takes every undecided change that this person can decide, "safe" the safe ones; neither overrides a
    rejection in the same call, nor takes removals of suddenly very many datasets. Refuses as a whole: an unknown
    change (404), one decided meanwhile (STALE_CHANGE), a rejection without a reason, an approval without what it
    requires (422), and a second yes by the first person (FOUR_EYES_REQUIRED).
    """
    changes = _locked_changes([proposal.pk for proposal in proposals])
    rejected = {each.change_id: each for each in reject}
    _check_rejections(rejected, changes)
    if isinstance(approve, str):
        chosen = _select(approve, changes, skip=rejected.keys(), by=by)
    else:
        chosen = [_known(changes, change_id, where="approve") for change_id in dict.fromkeys(approve)]
        both = [change.pk for change in chosen if change.pk in rejected]
        if both:
            raise _invalid("approve", f"Change {both[0]} is approved and rejected at once.")
        for change in chosen:
            _check_approval(change, by=by)
    _check_requirements(chosen, changes, rejected=rejected.keys())
    drafts = [
        Draft(change=change, person=by, verdict=Verdict.APPROVE, reason=comment.strip()) for change in chosen
    ] + [
        Draft(
            change=changes[each.change_id],
            person=by,
            verdict=Verdict.REJECT,
            mode=each.mode,
            reason=each.reason.strip(),
        )
        for each in rejected.values()
    ]
    Draft.objects.bulk_create(
        drafts,
        batch_size=300,
        update_conflicts=True,
        unique_fields=["change"],
        update_fields=["person", "verdict", "mode", "reason", "updated_at"],
    )
    return drafts


@transaction.atomic
def withdraw(change_ids: Collection[int], *, proposals: Iterable[Proposal]) -> int:
    """Take notes back; the changes are undecided again. Returns how many."""
    ids = [proposal.pk for proposal in proposals]
    deleted, _ = Draft.objects.filter(
        change_id__in=change_ids, change__proposal_id__in=ids, change__state__in=Change.UNDECIDED
    ).delete()
    return deleted


def _locked_changes(proposal_ids: list[int]) -> dict[int, Change]:
    """The changes of these proposals, which nobody applies or supersedes until the transaction ends.

    Three statements at most, however many they are; of one that needs others there is a row for each.
    """
    locked = Proposal.objects.select_for_update().filter(pk__in=proposal_ids).order_by("pk")
    list(locked.values_list("pk", flat=True))
    found: dict[int, Change] = {}
    for start in range(0, len(proposal_ids), 300):
        rows = (
            Change.objects.filter(proposal_id__in=proposal_ids[start : start + 300])
            .select_related("proposal__crawl_run", "proposal__system", "draft")
            .defer("before", "after", "evidence", "why", *_OF_PROPOSALS)
            .annotate(need_id=F("requires"))
            .order_by("proposal_id", "place")
        )
        for row in rows:
            change = found.setdefault(row.pk, row)
            change.__dict__.setdefault("needs", []).extend([row.need_id] if row.need_id else ())
    decided = [change for change in found.values() if change.state != Change.State.OPEN]
    if decided:
        prefetch_related_objects(decided, "decisions")
    return found


def _needs(change: Change) -> list[int]:
    """The changes that this one needs; expects it to come from `_locked_changes`."""
    return list(change.__dict__["needs"])


def _known(changes: dict[int, Change], change_id: int, *, where: str) -> Change:
    change = changes.get(change_id)
    if change is None:
        raise NotFound(
            "CHANGE_NOT_FOUND",
            f"There is no change {change_id} here.",
            errors=[FieldError(where, "not_found", f"No change {change_id}.")],
        )
    live = change.proposal.status in Proposal.LIVE
    if not live or change.state not in Change.UNDECIDED:
        state = change.get_state_display() if live else change.proposal.get_status_display()
        raise Conflict("STALE_CHANGE", f"Change {change_id} is no longer open: {state.lower()}.")
    return change


def _check_approval(change: Change, *, by: Any) -> None:
    if change.state == Change.State.STALE:
        raise Conflict(
            "STALE_CHANGE", f"The registry changed under change {change.pk}; crawl again or reject it."
        )
    first = first_approval(change)
    if change.state == Change.State.WAITING and first is not None and people_needed(change.risk) > 1:
        check_second(change, first, by=by)


def _check_rejections(rejected: dict[int, Rejection], changes: dict[int, Change]) -> None:
    for change_id, rejection in rejected.items():
        _known(changes, change_id, where="reject")
        if not rejection.reason.strip():
            raise _invalid("reject", f"Rejecting change {change_id} needs a reason.", code="required")
        if rejection.mode not in RejectMode.values:
            raise _invalid("reject", f"{rejection.mode} is none of once, mute, exclude.")


def _select(selection: str, changes: dict[int, Change], *, skip: Collection[int], by: Any) -> list[Change]:
    if selection not in {"all", "safe"}:
        raise _invalid("approve", 'Give a list of ids, "all" or "safe".')
    chosen, refusal = [], ""
    for change in changes.values():
        undecided = change.state in {Change.State.OPEN, Change.State.WAITING}
        if change.pk in skip or not undecided or change.proposal.status not in Proposal.LIVE:
            continue
        if selection == "safe" and change.risk != Change.Risk.SAFE:
            continue
        if change.rule == MANY_GONE:
            continue
        draft = getattr(change, "draft", None)
        if draft is not None and draft.verdict == Verdict.REJECT:
            continue
        first = first_approval(change)
        if change.state == Change.State.WAITING and first is not None:
            if people_needed(change.risk) < 2:
                continue
            refusal = why_not_second(change, first, by=by) or refusal
            if why_not_second(change, first, by=by):
                continue
        chosen.append(change)
    if not chosen and refusal:
        raise Forbidden("FOUR_EYES_REQUIRED", refusal)
    approved = {change.pk for change in chosen}
    kept = chosen
    while True:  # leave out what needs something that was rejected or left open
        kept = [c for c in kept if all(_granted(need, approved, changes) for need in _needs(c))]
        if len(kept) == len(approved):
            return kept
        approved = {change.pk for change in kept}


def _check_requirements(
    chosen: Sequence[Change], changes: dict[int, Change], *, rejected: Collection[int]
) -> None:
    approved = {change.pk for change in chosen}
    errors = []
    for change in chosen:
        for need_id in _needs(change):
            if need_id in rejected or not _granted(need_id, approved, changes):
                sentence = f"Change {change.pk} needs change {need_id} approved with it."
                errors.append(FieldError("approve", "requires", sentence))
    if errors:
        raise Invalid(detail="Some changes need others to be approved with them.", errors=errors)


def _granted(need_id: int, approved: Collection[int], changes: dict[int, Change]) -> bool:
    need = changes[need_id]
    if need_id in approved or need.state in {Change.State.APPLIED, Change.State.WAITING}:
        return True
    draft = getattr(need, "draft", None)
    return draft is not None and draft.verdict == Verdict.APPROVE


def _invalid(field: str, detail: str, *, code: str = "invalid") -> Invalid:
    return Invalid(detail=detail, errors=[FieldError(field, code, detail)])
