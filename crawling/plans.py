"""Schedules: when the next crawl of a plan is due, and starting what is due once."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import structlog
from cronsim import CronSim, CronSimError
from django.db import transaction
from django.utils import timezone

from aide.core.errors import DomainError, FieldError, Invalid
from crawling import crawl
from crawling.models import CrawlPlan, CrawlRun

log = structlog.get_logger(__name__)


def next_due(cron: str, time_zone: str, *, after: datetime) -> datetime:
    """The first time after `after` (aware) that a cron expression names in its time zone.

    Raises Invalid for an expression or a zone that cannot be read, or one that names no time.
    """
    try:
        zone = ZoneInfo(time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Invalid(
            detail="The time zone is unknown.",
            errors=[FieldError("time_zone", "invalid", f"There is no time zone called {time_zone}.")],
        ) from None
    try:
        return next(CronSim(cron, after.astimezone(zone)))
    except (CronSimError, StopIteration):
        raise Invalid(
            detail="The schedule cannot be read.",
            errors=[
                FieldError(
                    "cron", "invalid", "Write five fields: minute hour day month weekday, as in 0 2 * * *."
                )
            ],
        ) from None


def start_due() -> int:
    """Start the crawl of each active plan that is due, once however many processes ask. Returns how many."""
    now = timezone.now()
    started = 0
    due = CrawlPlan.objects.filter(is_active=True, system__is_active=True, next_due_at__lte=now)
    for plan_id in due.values_list("pk", flat=True)[:100]:
        started += _start(plan_id, now=now)
    for plan in CrawlPlan.objects.filter(is_active=True, next_due_at__isnull=True)[:100]:
        CrawlPlan.objects.filter(pk=plan.pk, next_due_at__isnull=True).update(
            next_due_at=next_due(plan.cron, plan.time_zone, after=now)
        )
    return started


def _start(plan_id: int, *, now: datetime) -> int:
    with transaction.atomic():
        plan = (
            CrawlPlan.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("system__flavor")
            .filter(pk=plan_id, is_active=True, next_due_at__lte=now)
            .first()
        )
        if plan is None:
            return 0
        plan.next_due_at = next_due(plan.cron, plan.time_zone, after=now)
        plan.save(update_fields=["next_due_at", "updated_at"])
    try:
        crawl.start(plan.system, config=plan.scope, trigger=CrawlRun.Trigger.SCHEDULE, plan=plan)
    except DomainError as error:
        log.warning("plan.not_started", plan=plan_id, reason=error.code)
        return 0
    return 1
