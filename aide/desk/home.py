"""Home, the work queue: what waits, what failed, what was decided, what comes tonight."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone

from aide.accounts.roles import Capability, can
from aide.desk import charts, navigation, work_counts
from aide.work.queue import workers_alive
from crawling import plan_words
from crawling.models import Change, CrawlPlan, CrawlRun, Decision, Verdict
from registry.models import DatasetSchema, Field, System

DAYS = 30
CHART_SECONDS = 15
RUNS = ("admin:crawling_crawlrun_changelist", "admin:crawling_runs")


def context(request: HttpRequest) -> dict[str, Any]:
    """Everything that the home page shows to this person."""
    user = request.user
    latest = work_counts.last_run(request)
    plans = _plans()
    decides = can(user, Capability.DECIDE)
    decisions = _recent_decisions() if decides else []
    waiting = work_counts.waiting(request)
    is_new = not latest and not System.objects.filter(deleted_at__isnull=True).exists()
    return {
        "waiting": waiting,
        "reviews_url": navigation.first_page(navigation.REVIEWS),
        "runs_url": navigation.first_page(RUNS),
        "failed_runs": work_counts.failed_runs(request),
        "suggestions": work_counts.suggestions(request),
        "suggestions_url": navigation.first_page(("admin:registry_pii_workbench",)),
        "may_decide": decides,
        "may_confirm": can(user, Capability.APPROVE_BREAKING),
        "may_add_system": can(user, Capability.MANAGE_SYSTEMS),
        "plans": plans,
        "next_due": min(
            (line["plan"].next_due_at for line in plans if line["plan"].next_due_at), default=None
        ),
        "last_run": latest,
        "decisions": decisions,
        "published": [] if decisions else _recently_published(),
        "is_new": is_new,
        "no_worker": latest is not None and latest.status == CrawlRun.Status.QUEUED and not workers_alive(),
        "has_runs": latest is not None,
        **(_charts() if latest else {}),
    }


def _plans() -> list[dict[str, Any]]:
    plans = list(
        CrawlPlan.objects.filter(is_active=True, system__deleted_at__isnull=True, system__is_active=True)
        .select_related("system")
        .order_by("next_due_at", "pk")[:8]
    )
    return [{"plan": plan, "words": plan_words.plan_in_words(plan)} for plan in plans]


def _recently_published() -> list[DatasetSchema]:
    rows = DatasetSchema.objects.filter(status=DatasetSchema.Status.PUBLISHED)
    return list(rows.select_related("dataset__system", "published_by").order_by("-published_at", "-pk")[:8])


def _recent_decisions() -> list[dict[str, Any]]:
    """The latest decisions of people, one line for what one person did in one system in one go."""
    rows = (
        Decision.objects.filter(person__isnull=False)
        .select_related("person", "change__proposal__system")
        .only(
            "verdict",
            "order",
            "reason",
            "at",
            "person__email",
            "person__full_name",
            "change__op",
            "change__field_path",
            "change__dataset_name",
            "change__risk",
            "change__proposal__crawl_run_id",
            "change__proposal__dataset_id",
            "change__proposal__system__code",
            "change__proposal__system__name",
        )
        .order_by("-pk")[:120]
    )
    lines: list[dict[str, Any]] = []
    for row in rows:
        change, system = row.change, row.change.proposal.system
        same = lines[-1] if lines else None
        key = (row.person_id, system.pk, row.verdict, row.order)
        if same and same["key"] == key and abs(same["at"] - row.at) < timedelta(minutes=10):
            same["count"] += 1
            same["breaking"] += change.risk == Change.Risk.BREAKING
            continue
        lines.append(
            {
                "key": key,
                "person": row.person,
                "system": system,
                "change": change,
                "is_approval": row.verdict == Verdict.APPROVE,
                "is_second": row.order == 2,
                "reason": row.reason,
                "at": row.at,
                "count": 1,
                "breaking": int(change.risk == Change.Risk.BREAKING),
            }
        )
        if len(lines) > 8:
            break
    return lines[:8]


def _charts() -> dict[str, Any]:
    kept = cache.get("desk.home.charts")
    if kept is None:
        kept = {"days": _days(), "described": _described()}
        cache.set("desk.home.charts", kept, CHART_SECONDS)
    labelled = [(day.strftime("%d %b"), found, done) for day, found, done in kept["days"]]
    return {
        "days": kept["days"],
        "days_chart": charts.pairs_by_day(labelled),
        "described": kept["described"],
        "described_chart": charts.shares(kept["described"]),
    }


def _days() -> list[tuple[date, int, int]]:
    today = timezone.localdate()
    first = today - timedelta(days=DAYS - 1)
    since = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    found = Counter(
        dict(
            Change.objects.filter(proposal__created_at__gte=since)
            .order_by()
            .annotate(day=TruncDate("proposal__created_at"))
            .values_list("day")
            .annotate(n=Count("pk"))
        )
    )
    decided = Counter(
        dict(
            Decision.objects.filter(at__gte=since, order=1)
            .order_by()
            .annotate(day=TruncDate("at"))
            .values_list("day")
            .annotate(n=Count("pk"))
        )
    )
    days = [first + timedelta(days=n) for n in range(DAYS)]
    return [(day, found[day], decided[day]) for day in days]


def _described() -> list[tuple[str, int, int]]:
    """(system, columns with a description, columns), the largest systems first."""
    rows = (
        Field.objects.filter(retired_at__isnull=True, dataset__deleted_at__isnull=True)
        .order_by()
        .values_list("dataset__system__name")
        .annotate(done=Count("pk", filter=~Q(description="")), whole=Count("pk"))
        .order_by("-whole")[:6]
    )
    return [(name, done, whole) for name, done, whole in rows]
