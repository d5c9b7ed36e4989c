"""Where one change stands, in words for the person who looks, and what they may do with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crawling import review
from crawling.models import Change, Decision, Draft, Proposal, RejectMode, Verdict

State = Change.State

# The states of a row on the page; the script and the stylesheet know them by these names.
OPEN, APPROVED, REJECTED = "open", "approved", "rejected"
WAITING, APPLIED, REFUSED = "waiting", "applied", "refused"
STALE, REPLACED = "stale", "replaced"
UNDECIDED = (OPEN, STALE)
NOTED = (APPROVED, REJECTED)
FROZEN = (APPLIED, REFUSED, REPLACED)


@dataclass(frozen=True)
class Standing:
    """`words` stand in the row; what is not allowed has no button."""

    state: str
    words: str
    may_approve: bool = False
    may_reject: bool = False
    may_undo: bool = False
    by: str = ""


@dataclass(frozen=True)
class Viewer:
    """Who looks at the page, and what they may do in this system."""

    user: Any
    may_decide: bool
    approvers: tuple[str, ...] = field(default=())

    def name_of(self, person: Any) -> str:
        if person is None:
            return "the schedule"
        return "you" if person.pk == self.user.pk else person.get_short_name()

    @property
    def who_confirms(self) -> str:
        """The names of those who may be the second person, for the sentence that asks for one."""
        others = [name for name in self.approvers if name]
        return f" ({', '.join(others)})" if others else " (nobody here is an approver yet)"


def standing_of(change: Change, *, viewer: Viewer, is_stale: bool = False) -> Standing:
    """Expects `change.proposal`, its draft and its decisions to be loaded."""
    if change.proposal.status == Proposal.Status.SUPERSEDED and change.state in Change.UNDECIDED:
        return Standing(REPLACED, "A newer crawl replaced this.")
    if change.state == State.APPLIED:
        return Standing(APPLIED, _applied(change, viewer))
    if change.state == State.REJECTED:
        return _refused(change, viewer)
    draft: Draft | None = getattr(change, "draft", None)
    may = viewer.may_decide
    if draft is not None and draft.verdict == Verdict.REJECT:
        return Standing(
            REJECTED, rejected_words(draft, viewer), may_undo=may, by=viewer.name_of(draft.person)
        )
    first = first_approval(change)
    if draft is not None and not (change.state == State.STALE or is_stale):
        return Standing(
            APPROVED, _approved(change, draft, first, viewer), may_undo=may, by=viewer.name_of(draft.person)
        )
    if change.state == State.STALE or is_stale:
        words = "The registry changed here after the crawl looked."
        return Standing(STALE, words, may_reject=may, may_undo=may and draft is not None)
    if change.state == State.WAITING and first is not None:
        return _waiting(change, first, viewer)
    return Standing(OPEN, "", may_approve=may, may_reject=may)


def first_approval(change: Change) -> Decision | None:
    """The approval that a waiting change waits after."""
    if change.state == State.OPEN:
        return None
    return next((each for each in change.decisions.all() if each.verdict == Verdict.APPROVE), None)


def is_complete(change: Change, *, with_draft: bool) -> bool:
    """Whether the approvals, with the noted one, are as many as the change's risk needs."""
    given = 1 if first_approval(change) is not None else 0
    return given + (1 if with_draft else 0) >= review.people_needed(change.risk)


def _waiting(change: Change, first: Decision, viewer: Viewer) -> Standing:
    who = viewer.name_of(first.person)
    if review.people_needed(change.risk) < 2:
        return Standing(
            WAITING,
            f"Approved by {who}. It takes effect together with what it needs.",
            may_reject=viewer.may_decide,
        )
    reason = review.why_not_second(change, first, by=viewer.user)
    if not reason and viewer.may_decide:
        return Standing(WAITING, f"Approved by {who}.", may_approve=True, may_reject=True, by=who)
    if first.person_id == viewer.user.pk:
        words = f"Approved by you. A second person must confirm{viewer.who_confirms}."
    elif reason.startswith("You "):
        words = f"Approved by {who}. {reason}"
    else:
        words = f"Approved by {who}. A second person must confirm{viewer.who_confirms}."
    return Standing(WAITING, words, by=who)


def _approved(change: Change, draft: Draft, first: Decision | None, viewer: Viewer) -> str:
    who = viewer.name_of(draft.person)
    if first is not None and review.people_needed(change.risk) > 1:
        return f"Confirmed by {who}, after {viewer.name_of(first.person)}."
    if review.people_needed(change.risk) > 1:
        return f"Approved by {who}. A second person must confirm."
    return f"Approved by {who}."


def rejected_words(draft: Draft, viewer: Viewer) -> str:
    mode = RejectMode(draft.mode or RejectMode.MUTE).label
    return f"Rejected by {viewer.name_of(draft.person)}: {draft.reason} ({mode[0].lower()}{mode[1:]})"


def _applied(change: Change, viewer: Viewer) -> str:
    people = [
        viewer.name_of(each.person) for each in change.decisions.all() if each.verdict == Verdict.APPROVE
    ]
    version = change.applied_version
    where = f" in version {version.version_num}" if version is not None else ""
    return f"In force{where}. Approved by {' and '.join(dict.fromkeys(people)) or 'nobody'}."


def _refused(change: Change, viewer: Viewer) -> Standing:
    decision = next((each for each in change.decisions.all() if each.verdict == Verdict.REJECT), None)
    if decision is None:
        return Standing(REFUSED, "Rejected.")
    mode = RejectMode(decision.mode or RejectMode.MUTE).label
    return Standing(
        REFUSED,
        f"Rejected by {viewer.name_of(decision.person)}: {decision.reason} ({mode[0].lower()}{mode[1:]})",
    )
