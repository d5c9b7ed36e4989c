"""What the demo holds now, and what to look at, in words for the screen. Only `seed_demo` uses it."""

from __future__ import annotations

from collections import Counter

from django.db.models import QuerySet

from crawling.models import Change, CrawlRun, Proposal
from lineage.models import OutboxMessage
from registry.models import Dataset, FieldTag, System

WHAT_TO_LOOK_AT = """
What to look at:
  1. As steward: Home, the review of Customer relations. Approve, reject, say why; then Finish.
  2. As steward: the suggestions of personal data. Some of them only sound like it.
  3. The column email of customers: who makes what of it, in which systems.
  4. The dataset customers, Versions: what changed since 1 March.
  5. As approver: confirm what waits for a second person.
  6. As engineer: the failed crawl of Partner files, the lost one of the Event bus, the outbox.
  7. As approver: the audit log, where all of this is written down.
"""


def what_there_is() -> str:
    """The demo in numbers, a line each."""
    lines = [f"{System.objects.alive().count()} systems with {Dataset.objects.alive().count():,} datasets."]
    waiting = Change.objects.filter(proposal__status__in=Proposal.LIVE, state__in=Change.UNDECIDED)
    for name, risks in _by_system(waiting).items():
        lines.append(
            f"{name}: {sum(risks.values())} changes wait for review, {risks['breaking']} of them breaking."
        )
    suggested = FieldTag.objects.filter(state=FieldTag.State.SUGGESTED, until__isnull=True).count()
    lines.append(f"{suggested} columns may hold personal data and wait for a decision.")
    bad = CrawlRun.objects.filter(status__in=(CrawlRun.Status.FAILED, CrawlRun.Status.LOST)).count()
    dead = OutboxMessage.objects.filter(status=OutboxMessage.Status.DEAD).count()
    lines.append(f"{bad} crawls failed or were lost; {dead} messages could not be delivered.")
    return "\n".join(lines)


def _by_system(waiting: QuerySet[Change]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for name, risk in waiting.order_by("proposal__system__code").values_list(
        "proposal__system__name", "risk"
    ):
        found.setdefault(name, Counter())[risk] += 1
    return found
