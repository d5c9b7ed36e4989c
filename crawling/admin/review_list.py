"""The list of reviews: runs with changes that wait, for everybody or for a second person, and those that are done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aide_crawler import Scope
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from aide.accounts.roles import Capability, can, systems_limit
from crawling.admin import review_batches
from crawling.admin.review_answers import answer
from crawling.models import Change, CrawlRun, Decision, Proposal, Verdict
from registry.models import System

State = Change.State
MOST = 200


@dataclass
class Line:
    """One review in the list. `counts` are of undecided changes, by risk."""

    run: Any
    changes: int = 0
    noted: int = 0
    waiting: int = 0
    datasets: int = 0
    counts: dict[str, int] = field(default_factory=lambda: {"breaking": 0, "risky": 0, "safe": 0})

    def add(self, other: Line) -> None:
        self.changes += other.changes
        self.noted += other.noted
        self.waiting += other.waiting
        self.datasets += other.datasets
        for risk, count in other.counts.items():
            self.counts[risk] += count

    @property
    def risks(self) -> list[tuple[str, int]]:
        return [(risk, count) for risk, count in self.counts.items() if count]


@require_GET
def page(request: HttpRequest) -> HttpResponse:
    need = "second" if request.GET.get("need") == "second" else ""
    done = request.GET.get("show") == "done"
    system = request.GET.get("system", "")
    risk = request.GET.get("risk", "")
    mine = systems_limit(request.user, Capability.DECIDE) if can(request.user, Capability.DECIDE) else None
    everything = request.GET.get("all") == "1" or mine is None
    lines = _done(system) if done else _open(request.user, second=bool(need))
    if not done:
        lines += _brought(request.user, second=bool(need))
    if system and not done:
        lines = [line for line in lines if line.run.system.code == system]
    if risk == "breaking" and not done:
        lines = [line for line in lines if line.counts["breaking"]]
    if not everything and mine is not None:
        lines = [line for line in lines if line.run.system_id in mine]
    context = {
        "title": "Waiting for a second person" if need else "Reviews",
        "lines": lines,
        "need": need,
        "done": done,
        "system": system,
        "risk": risk,
        "systems": System.objects.filter(
            Exists(Proposal.objects.filter(system=OuterRef("pk"))), deleted_at__isnull=True
        ),
        "is_limited": not everything,
        "is_steward": mine is not None,
        "may_decide": can(request.user, Capability.DECIDE),
        "may_confirm": can(request.user, Capability.APPROVE_BREAKING),
    }
    return answer(request, "admin/crawling/review/list.html", context)


def _open(user: Any, *, second: bool) -> list[Line]:
    """One line a run that holds live proposals; a newer look at the whole system takes the older ones in."""
    counted = _counted(
        _waiting(user, second=second).filter(proposal__crawl_run__isnull=False), "proposal__crawl_run"
    )
    lines: dict[int, Line] = {}
    for run in _runs(counted):
        line = _line(run, counted[run.pk])
        newer = lines.get(run.system_id)
        if newer is not None and Scope.from_dict(newer.run.config) == Scope():
            newer.add(line)
        elif newer is not None:
            lines[-run.pk] = line
        else:
            lines[run.system_id] = line
    return sorted(lines.values(), key=lambda line: (-line.counts["breaking"], -line.changes, line.run.pk))


def _brought(user: Any, *, second: bool) -> list[Line]:
    """One line for what people brought together."""
    rows = _waiting(user, second=second).filter(
        proposal__crawl_run__isnull=True, proposal__origin__in=review_batches.BROUGHT
    )
    counted = _counted(rows, "proposal")
    lines = []
    for batch in review_batches.batches(counted):
        line = Line(batch)
        for proposal_id in batch.proposal_ids:
            line.add(_line(batch, counted[proposal_id]))
        lines.append(line)
    return lines


def _waiting(user: Any, *, second: bool) -> QuerySet[Change]:
    """The undecided changes, or of them those that wait for someone else than this person."""
    rows: QuerySet[Change] = Change.objects.filter(
        proposal__status__in=Proposal.LIVE, state__in=Change.UNDECIDED
    )
    if second:
        rows = rows.filter(state=State.WAITING)
        if can(user, Capability.APPROVE_BREAKING):
            own = Decision.objects.filter(change=OuterRef("pk"), person=user.pk, verdict=Verdict.APPROVE)
            rows = rows.exclude(Exists(own))
    return rows


def _counted(rows: QuerySet[Change], key: str) -> dict[int, dict[str, Any]]:
    found = (
        rows.order_by()
        .values(key)
        .annotate(
            changes=Count("pk"),
            noted=Count("draft"),
            waiting=Count("pk", filter=Q(state=State.WAITING)),
            datasets=Count("proposal", distinct=True),
            breaking=Count("pk", filter=Q(risk="breaking")),
            risky=Count("pk", filter=Q(risk="risky")),
            safe=Count("pk", filter=Q(risk="safe")),
        )
    )
    return {each[key]: each for each in found}


def _line(run: Any, counted: dict[str, Any]) -> Line:
    return Line(
        run,
        changes=counted["changes"],
        noted=counted["noted"],
        waiting=counted["waiting"],
        datasets=counted["datasets"],
        counts={risk: counted[risk] for risk in ("breaking", "risky", "safe")},
    )


def _runs(ids: Any) -> list[CrawlRun]:
    rows = CrawlRun.objects.filter(pk__in=list(ids)).select_related("system", "started_by")
    return list(rows.defer("report", "coverage", "summary", "timings").order_by("-pk"))


def _done(system: str) -> list[Line]:
    rows = CrawlRun.objects.filter(
        Exists(Proposal.objects.filter(crawl_run=OuterRef("pk"))),
        ~Exists(Proposal.objects.filter(crawl_run=OuterRef("pk"), status__in=Proposal.LIVE)),
    )
    if system:
        rows = rows.filter(system__code=system)
    counted = rows.annotate(
        changes=Count("proposals__changes"), datasets=Count("proposals", distinct=True)
    ).select_related("system", "started_by")
    return [
        Line(run, changes=run.changes, datasets=run.datasets)
        for run in counted.defer("report", "coverage", "summary", "timings").order_by("-pk")[:MOST]
    ]
