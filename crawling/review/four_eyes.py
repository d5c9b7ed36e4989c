"""Who may decide what, and when a second person is needed. Nobody is exempt, whatever their rank."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from aide.accounts.roles import Capability, can
from aide.core.errors import Forbidden
from crawling.models import Change, Decision


def people_needed(risk: str) -> int:
    """How many different people must approve a change of this risk."""
    if settings.AIDE_FOUR_EYES == "off":
        return 1
    if settings.AIDE_FOUR_EYES == "all":
        return 2
    return 2 if risk == Change.Risk.BREAKING else 1


def why_not_second(change: Change, first: Decision, *, by: Any) -> str:
    """Why this person cannot be the change's second one, in words; empty when they can."""
    if first.person_id == by.pk:
        return "You decided this first; another person must confirm."
    run = change.proposal.crawl_run
    if run is not None and run.started_by_id == by.pk:
        return "You started the crawl that found this; another person must confirm."
    if change.paired_by_id == by.pk:
        return "You split or paired this; another person must confirm."
    if change.proposal.proposed_by_id == by.pk:
        return "You proposed this; another person must confirm."
    if not can(by, Capability.APPROVE_BREAKING, change.proposal.system):
        return "Confirming this as the second person needs the approver role."
    return ""


def check_second(change: Change, first: Decision, *, by: Any) -> None:
    """Raise FOUR_EYES_REQUIRED, or FORBIDDEN for want of the role, unless this person can confirm the change."""
    reason = why_not_second(change, first, by=by)
    if not reason:
        return
    lacks_role = first.person_id != by.pk and not can(by, Capability.APPROVE_BREAKING, change.proposal.system)
    raise Forbidden("FORBIDDEN" if lacks_role else "FOUR_EYES_REQUIRED", reason)


def first_approval(change: Change) -> Decision | None:
    """The decision that a waiting change waits after; expects `decisions` to be prefetched unless it is open."""
    return next((each for each in decisions_of(change) if each.verdict == "approve"), None)


def decisions_of(change: Change) -> list[Decision]:
    """What was decided on a change; an open one has no decision, and is not asked for any."""
    return [] if change.state == Change.State.OPEN else list(change.decisions.all())
