"""How much work waits for a person: counted once a request, within what the person may decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count, Max, Min, Q, QuerySet
from django.http import HttpRequest

from aide.accounts.roles import Capability, can, systems_limit
from crawling.models import Change, CrawlRun, Proposal
from registry import workbench

# Beyond this a badge says "1,000+" and the database stops counting.
CAP = 1_000
BADGE_SECONDS = 15
BAD = (CrawlRun.Status.FAILED, CrawlRun.Status.LOST)


@dataclass(frozen=True)
class Waiting:
    """Undecided changes: how many, how many break something, in how many reviews, since when; and second persons.

    `reviews_for_me` also counts those in which this person may be the second.
    """

    changes: int
    breaking: int
    reviews: int
    reviews_for_me: int
    oldest: datetime | None
    for_second: int
    for_second_oldest: datetime | None


def waiting(request: HttpRequest) -> Waiting:
    """Changes that wait for this person (a steward: in own systems)."""
    return cast(Waiting, _once(request, "waiting", _count_waiting))


def badges(request: HttpRequest) -> dict[str, int]:
    """The numbers in the navigation: kept for some seconds, and counted anew after what this person did."""
    key = _key(request.user)
    kept: dict[str, int] | None = cache.get(key)
    if kept is None or "_desk_counts" in request.__dict__:  # the page itself tells them, so both must agree
        kept = {
            "reviews": waiting(request).reviews_for_me,
            "suggestions": suggestions(request),
            "failed_crawls": len(failed_runs(request)),
        }
        cache.set(key, kept, BADGE_SECONDS)
    return kept


def forget_badges(user: Any) -> None:
    """To be called after whatever a person wrote."""
    if user.pk is not None:
        cache.delete(_key(user))


def _key(user: Any) -> str:
    return f"desk.badges.{user.pk}"


def failed_runs(request: HttpRequest) -> list[CrawlRun]:
    """The latest crawl of each system where it failed or was lost, the newest first."""
    return [run for run in _runs(request) if run.status in BAD and run.is_latest]  # type: ignore[attr-defined]


def last_run(request: HttpRequest) -> CrawlRun | None:
    """The newest crawl of all, however it went."""
    return next(iter(_runs(request)), None)


def suggestions(request: HttpRequest) -> int:
    return cast(int, _once(request, "suggestions", _count_suggestions))


def limit(request: HttpRequest, capability: Capability) -> Q:
    """A filter on `system_id` for what the capability is limited to; everything for those who only look."""
    ids = systems_limit(request.user, capability) if can(request.user, capability) else None
    return Q() if ids is None else Q(system_id__in=ids)


def _once(request: HttpRequest, name: str, compute: Any) -> Any:
    kept = request.__dict__.setdefault("_desk_counts", {})
    if name not in kept:
        kept[name] = compute(request)
    return kept[name]


def _count_waiting(request: HttpRequest) -> Waiting:
    ids = systems_limit(request.user, Capability.DECIDE) if can(request.user, Capability.DECIDE) else None
    rows: QuerySet[Change] = Change.objects.filter(
        proposal__status__in=Proposal.LIVE, state__in=Change.UNDECIDED
    )
    if ids is not None:
        rows = rows.filter(proposal__system_id__in=ids)
    first = ~Q(state=Change.State.WAITING)
    second = Q(state=Change.State.WAITING)
    mine = first
    if can(request.user, Capability.APPROVE_BREAKING):
        own = Change.objects.filter(decisions__person=request.user.pk, decisions__verdict="approve")
        second &= ~Q(pk__in=own.values("pk"))
        mine = first | second
    crawled = Q(proposal__crawl_run__isnull=False)
    brought = Q(proposal__crawl_run__isnull=True) & ~Q(proposal__batch="")
    found = rows.aggregate(
        changes=Count("pk", filter=first),
        breaking=Count("pk", filter=first & Q(risk=Change.Risk.BREAKING)),
        # A review stands for a system: its newest run shows what the older ones left open.
        reviews=Count("proposal__system", filter=first & crawled, distinct=True),
        reviews_for_me=Count("proposal__system", filter=mine & crawled, distinct=True),
        batches=Count("proposal__batch", filter=first & brought, distinct=True),
        batches_for_me=Count("proposal__batch", filter=mine & brought, distinct=True),
        oldest=Min("proposal__created_at", filter=first),
        for_second=Count("pk", filter=second),
        for_second_oldest=Min("proposal__created_at", filter=second),
    )
    # What people brought together is a review of its own.
    found["reviews"] += found.pop("batches")
    found["reviews_for_me"] += found.pop("batches_for_me")
    return Waiting(**found)


def _runs(request: HttpRequest) -> list[CrawlRun]:
    return cast(list[CrawlRun], _once(request, "runs", _find_runs))


def _find_runs(request: HttpRequest) -> list[CrawlRun]:
    """The newest run of all, and every system's latest one that went wrong, in one statement."""
    runs = CrawlRun.objects.filter(dry_run=False)
    latest = (
        runs.filter(system__deleted_at__isnull=True, system__is_active=True)
        .order_by()
        .values("system_id")
        .annotate(latest=Max("pk"))
        .values("latest")
    )
    newest = runs.order_by("-pk").values("pk")[:1]
    wanted = Q(pk__in=latest, status__in=BAD) | Q(pk__in=newest)
    rows = CrawlRun.objects.filter(wanted).annotate(is_latest=Q(pk__in=latest)).select_related("system")
    return list(rows.order_by("-pk")[:50])


def _count_suggestions(request: HttpRequest) -> int:
    rows = workbench.waiting()
    ids = systems_limit(request.user, Capability.DECIDE) if can(request.user, Capability.DECIDE) else None
    if ids is not None:
        rows = rows.filter(field__dataset__system_id__in=ids)
    return rows[:CAP].count()
