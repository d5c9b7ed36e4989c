"""From noted decisions to verdicts: rejected, stale, waiting for a second person, or approved; then the rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.utils import timezone

from aide.accounts.roles import Capability, can
from aide.audit.entries import Entry, record
from aide.core import bulk
from crawling.diff import MANY_GONE
from crawling.models import Change, Decision, Draft, Mute, Proposal, RejectMode, Verdict
from crawling.review.case import Case
from crawling.review.four_eyes import decisions_of, first_approval, people_needed, why_not_second

State = Change.State
NOTHING_HELD: Mapping[int, str] = MappingProxyType({})


def settle(
    case: Case, *, by: Any, comment: str, granted: Collection[str], held: Mapping[int, str] = NOTHING_HELD
) -> None:
    """Sort a case's changes into rejected, stale, waiting and approved. Writes nothing yet.

    `held` are changes that wait for those of other datasets, by id, with what they wait for.
    """
    now = timezone.now()
    stale = case.stale_now()
    complete: list[Change] = []
    for change in case.changes:
        if change.state not in Change.UNDECIDED:
            continue
        draft = getattr(change, "draft", None)
        first = first_approval(change)
        if draft is not None and draft.verdict == Verdict.REJECT:
            if _may(case, draft.person, change):
                _reject(case, change, draft, first, now)
            continue
        by_plan = (
            change.risk in granted
            and people_needed(change.risk) == 1
            and draft is None
            and change.rule != MANY_GONE
        )
        noted = draft is not None and draft.verdict == Verdict.APPROVE
        if not noted and not by_plan and first is None:
            continue
        if change.fingerprint in stale:
            if noted or by_plan or change.state == State.WAITING:
                case.stale.append(change)
            continue
        if draft is not None and noted and not _may(case, draft.person, change):
            continue
        _approve(case, change, draft if noted else None, first, by_plan=by_plan, comment=comment, now=now)
        if _enough(case, change):
            complete.append(change)
        elif noted:
            case.waiting.append((change, "a second person"))
    _close_under_requirements(case, complete, held)


def _may(case: Case, person: Any, change: Change) -> bool:
    if can(person, Capability.DECIDE, case.proposal.system):
        return True
    case.failed.append((change, f"{person.get_username()} may no longer decide for this system."))
    return False


def _reject(case: Case, change: Change, draft: Draft, first: Decision | None, now: Any) -> None:
    decision = Decision(
        change=change,
        person=draft.person,
        order=1 if first is None else 2,
        verdict=Verdict.REJECT,
        mode=draft.mode or RejectMode.MUTE,
        reason=draft.reason,
        at=now,
    )
    case.decisions.append(decision)
    case.rejected.append((change, decision))


def _approve(
    case: Case,
    change: Change,
    draft: Draft | None,
    first: Decision | None,
    *,
    by_plan: bool,
    comment: str,
    now: Any,
) -> None:
    if draft is None and not by_plan:
        return
    person = draft.person if draft is not None else None
    if first is not None and (_enough(case, change) or why_not_second(change, first, by=person)):
        return
    case.decisions.append(
        Decision(
            change=change,
            person=person,
            order=1 if first is None else 2,
            verdict=Verdict.APPROVE,
            reason=(draft.reason if draft is not None else "") or comment,
            at=now,
        )
    )


def _enough(case: Case, change: Change) -> bool:
    given = [each for each in decisions_of(change) if each.verdict == Verdict.APPROVE]
    given += [each for each in case.decisions if each.change is change]
    return len({each.person_id for each in given}) >= people_needed(change.risk)


def _close_under_requirements(case: Case, complete: list[Change], held: Mapping[int, str]) -> None:
    """Approved are those whose requirements are in force or approved too; the others wait for those."""
    states = {change.pk: change for change in case.changes}
    rejected = {change.pk for change, _ in case.rejected}
    ready = {change.pk for change in complete} - held.keys()
    shrinking = True
    while shrinking:
        late = {
            change.pk
            for change in complete
            if change.pk in ready
            and any(
                need.pk not in ready and states[need.pk].state != State.APPLIED for need in case.needs(change)
            )
        }
        ready -= late
        shrinking = bool(late)
    for change in complete:
        if change.pk in ready:
            case.approved.append(change)
            continue
        missing = [n for n in case.needs(change) if n.pk not in ready and states[n.pk].state != State.APPLIED]
        refused = [n for n in missing if n.pk in rejected or states[n.pk].state == State.REJECTED]
        if refused:
            case.failed.append((change, f"It needs change {refused[0].pk}, which was rejected."))
        elif any(each.change is change for each in case.decisions):
            case.waiting.append((change, f"change {missing[0].pk}" if missing else held[change.pk]))


def write_settled(cases: Sequence[Case], *, by: Any, batch: str) -> None:
    """Write decisions, states, mutes and audit entries of settled cases, in bulk."""
    now = timezone.now()
    touched: list[Change] = []
    for case in cases:
        touched += _set_states(case)
    bulk.update(touched, ["state", "applied_version"])
    failed = {id(change) for case in cases for change, _ in case.failed}
    decisions = [d for case in cases for d in case.decisions if id(d.change) not in failed]
    bulk.insert(decisions)
    Mute.objects.bulk_create(
        [
            _mute(case, *pair)
            for case in cases
            # What people proposed says nothing of the source, so there is nothing to be quiet about.
            if case.proposal.origin == Proposal.Origin.CRAWL
            for pair in case.rejected
            if pair[1].mode != RejectMode.ONCE
        ],
        batch_size=300,
        ignore_conflicts=True,
    )
    done = [change.pk for change in touched]
    for start in range(0, len(done), 500):
        Draft.objects.filter(change_id__in=done[start : start + 500]).delete()
    proposals = [case.proposal for case in cases if _close(case)]
    for proposal in proposals:
        proposal.updated_at = now
    bulk.update(proposals, ["status", "dataset", "updated_at"])
    record(
        *(_entry(case, decision) for case in cases for decision in _kept(case, failed)), by=by, batch=batch
    )


def _kept(case: Case, failed: set[int]) -> list[Decision]:
    return [each for each in case.decisions if id(each.change) not in failed]


def _set_states(case: Case) -> list[Change]:
    touched = []
    for change in case.applied:
        change.state, change.applied_version = State.APPLIED, case.version
        touched.append(change)
    for change, _ in case.rejected:
        change.state = State.REJECTED
        touched.append(change)
    for change, _ in case.waiting:
        change.state = State.WAITING
        touched.append(change)
    for change in case.stale:
        change.state = State.STALE
        touched.append(change)
    return touched


def _close(case: Case) -> bool:
    """Bring the proposal's status up to its changes; False when nothing about it is new."""
    proposal = case.proposal
    states = {change.state for change in case.changes}
    before = (proposal.status, proposal.dataset_id)
    if states & set(Change.UNDECIDED):
        if states & {State.APPLIED, State.REJECTED}:
            proposal.status = Proposal.Status.PARTLY_APPLIED
    elif State.APPLIED in states:
        proposal.status = Proposal.Status.APPLIED
    else:
        proposal.status = Proposal.Status.REJECTED
    if case.dataset is not None:
        proposal.dataset = case.dataset
    return before != (proposal.status, proposal.dataset_id)


def _mute(case: Case, change: Change, decision: Decision) -> Mute:
    return Mute(
        system=case.proposal.system,
        dataset_name=case.proposal.dataset_name,
        field_path=change.field_path,
        op=change.op,
        fingerprint=change.fingerprint,
        mode=decision.mode,
        change=change,
        person=decision.person,
        reason=decision.reason,
    )


def _entry(case: Case, decision: Decision) -> Entry:
    change = decision.change
    order = "second" if decision.order == 2 else "first"
    return Entry(
        f"change.{decision.verdict}",
        "change",
        change.pk,
        f"{change.op} {change.field_path or change.dataset_name}",
        system_code=case.proposal.system.code,
        dataset_id=case.dataset.pk if case.dataset is not None else None,
        risk=change.risk,
        touches_pii=change.touches_pii,
        before=_brief(change, change.before),
        after={
            "value": _brief(change, change.after),
            "decided_by": decision.person.get_username() if decision.person is not None else "the plan",
            "as": f"{order} person",
            "proposal": case.proposal.pk,
            "run": case.proposal.crawl_run_id,
        },
        reason=decision.reason,
    )


def _brief(change: Change, value: Any) -> Any:
    """A change's value for the log; of a whole dataset only its extent, the version holds the rest."""
    if change.op in {Change.Op.ADD_DATASET, Change.Op.DROP_DATASET} and value is not None:
        return {"kind": value.get("kind"), "fields": len(value.get("fields") or ())}
    return value
