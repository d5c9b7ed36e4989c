"""The system page: where it is, how it is crawled, what it holds, how the last crawls went."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from aide.accounts.roles import Capability, can
from aide.desk import navigation
from crawling import plan_words
from crawling.models import Change, CrawlPlan, CrawlRun, Proposal
from registry.models import Dataset, System


def context(request: HttpRequest, system: System) -> dict[str, Any]:
    """What the page shows of this system to this person."""
    user = request.user
    plans = list(system.crawl_plans.order_by("pk"))
    runs = list(
        CrawlRun.objects.filter(system=system, dry_run=False).select_related("started_by").order_by("-pk")[:8]
    )
    live = Change.objects.filter(proposal__system=system, proposal__status__in=Proposal.LIVE)
    counts = live.filter(state__in=Change.UNDECIDED).aggregate(
        changes=Count("pk"), breaking=Count("pk", filter=Q(risk=Change.Risk.BREAKING))
    )
    datasets = system.datasets.filter(deleted_at__isnull=True).exclude(status=Dataset.Status.RETIRED)
    return {
        "title": system.name,
        "system": system,
        "plans": [_told(plan) for plan in plans],
        "plan_url": f"{reverse('admin:crawling_crawlplan_add')}?system={system.pk}",
        "runs": runs,
        "active_run": next((run for run in runs if run.status in CrawlRun.ACTIVE), None),
        "open_changes": counts,
        "datasets_count": datasets.count(),
        "datasets": list(datasets.select_related("current_schema").order_by("name")[:12]),
        "stewards": list(system.stewards.all()),
        "namespaces": list(system.namespace_rows.all()),
        "has_types": system.flavor.data_types.filter(deleted_at__isnull=True).exists(),
        "may_edit": can(user, Capability.MANAGE_SYSTEMS, system),
        "may_crawl": can(user, Capability.START_CRAWL, system),
        "start_url": start_url(system),
        "reviews_url": navigation.reviews_of(system),
        "runs_url": _page("admin:crawling_crawlrun_changelist"),
    }


def _told(plan: CrawlPlan) -> dict[str, Any]:
    names = {
        "schemas": "Only the schemas",
        "tables": "Only the tables",
        "exclude_schemas": "Without the schemas",
        "exclude_tables": "Without the tables",
    }
    return {
        "plan": plan,
        "words": plan_words.plan_in_words(plan),
        "next": plan_words.next_in_words(plan.next_due_at, plan.time_zone) if plan.is_active else "",
        "scope": [
            (words, ", ".join(plan.scope[name])) for name, words in names.items() if plan.scope.get(name)
        ],
    }


def start_url(system: System) -> str:
    """Where "Crawl now" is sent to; empty while that page is not there."""
    for arguments in ([system.pk], []):
        try:
            return reverse("admin:crawling_start", args=arguments)
        except NoReverseMatch:
            continue
    return ""


def _page(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
