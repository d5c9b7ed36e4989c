"""The life of a run: queued, running, then one of its true ends. Every step is a short transaction of its own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from aide_crawler import CrawlError, Scope, ScopeInvalid
from aide_crawler.scope import literal
from django.db import IntegrityError, transaction
from django.utils import timezone

from aide.core.errors import Conflict, FieldError, Invalid
from aide.work.queue import enqueue
from crawling import connect
from crawling.models import CrawlPlan, CrawlRun
from crawling.stand_in import stand_in_of
from registry.models import System

HEARTBEAT_SECONDS = 5
LOST_AFTER_SECONDS = 60
QUEUED_TOO_LONG_SECONDS = 24 * 3600
Status = CrawlRun.Status


def start(
    system: System,
    *,
    config: Mapping[str, Any] | None = None,
    by: Any = None,
    trigger: str,
    plan: CrawlPlan | None = None,
    dry_run: bool = False,
    retry_of: CrawlRun | None = None,
) -> CrawlRun:
    """Queue a crawl that a worker of this server carries out; refuses what `prepare` refuses."""
    with transaction.atomic():
        run = prepare(
            system, config=config, by=by, trigger=trigger, plan=plan, dry_run=dry_run, retry_of=retry_of
        )
        enqueue("crawling.crawl", run_id=run.pk)
    return run


def prepare(
    system: System,
    *,
    config: Mapping[str, Any] | None = None,
    by: Any = None,
    trigger: str,
    plan: CrawlPlan | None = None,
    dry_run: bool = False,
    retry_of: CrawlRun | None = None,
) -> CrawlRun:
    """Make a run that is ready to be carried out, by whoever takes it.

    Refuses in words: a bad scope, an inactive system, no connection, a flavor without types, and a second run
    (CRAWL_ALREADY_RUNNING, with the first one's id in `extra["run_id"]`).
    """
    scope = scope_of(config)
    connect.check_can_crawl(system)
    bundled = stand_in_of(system) is not None
    if not system.connection_url and not bundled:
        raise Invalid(
            detail=f"The system {system.code} has no connection URL, so this server cannot crawl it.",
            errors=[FieldError("system", "no_connection", "Give the system a connection URL first.")],
        )
    if not system.flavor.sqlalchemy_dialects and not bundled:
        raise Invalid(
            detail=f"{system.flavor.name} is no database that this server can connect to and crawl.",
            errors=[FieldError("system", "no_dialect", "Its flavor names no SQLAlchemy dialect.")],
        )
    return create(
        system,
        trigger=trigger,
        started_by=by,
        plan=plan,
        dry_run=dry_run,
        retry_of=retry_of,
        config=scope.to_dict(),
        status=Status.QUEUED,
    )


def scope_of(config: Mapping[str, Any] | None, *, field: str = "config") -> Scope:
    """The scope of a run's configuration; raises Invalid in words."""
    try:
        return Scope.from_dict(config)
    except ScopeInvalid as error:
        raise Invalid(
            detail="The scope cannot be read.", errors=[FieldError(field, "invalid", str(error))]
        ) from None


def create(system: System, **values: Any) -> CrawlRun:
    """Make the run of a system; CRAWL_ALREADY_RUNNING while another one is active and heard of."""
    mark_lost(system)
    try:
        with transaction.atomic():
            return CrawlRun.objects.create(system=system, **values)
    except IntegrityError:
        first = CrawlRun.objects.filter(system=system, status__in=CrawlRun.ACTIVE).first()
        if first is None:
            raise
        raise Conflict(
            "CRAWL_ALREADY_RUNNING",
            f"Run {first.pk} of {system.code} is {first.get_status_display().lower()}; one at a time.",
            extra={"run_id": first.pk},
        ) from None


def begin(run_id: int) -> CrawlRun | None:
    """Take a queued run; None when it is no longer queued (cancelled, lost, or another worker's)."""
    now = timezone.now()
    taken = CrawlRun.objects.filter(pk=run_id, status=Status.QUEUED).update(
        status=Status.RUNNING, started_at=now, heartbeat_at=now
    )
    if not taken:
        return None
    return CrawlRun.objects.select_related("system__flavor", "system__credential_ref", "plan").get(pk=run_id)


def hold(run: CrawlRun) -> None:
    """Lock a run until the transaction ends; raises CrawlError when it is no longer running (cancelled, lost)."""
    status = CrawlRun.objects.select_for_update().values_list("status", flat=True).get(pk=run.pk)
    if status != Status.RUNNING:
        raise CrawlError("cancelled", "The run was cancelled; nothing of it was proposed.")


def finish(run: CrawlRun, status: str, **values: Any) -> bool:
    """End a run that is still ours; False when it was ended by another (lost) meanwhile."""
    ended = CrawlRun.objects.filter(pk=run.pk, status__in=CrawlRun.ACTIVE).update(
        status=status, finished_at=timezone.now(), current_object="", **values
    )
    run.refresh_from_db()
    return bool(ended)


def cancel(run: CrawlRun, *, by: Any) -> CrawlRun:
    """Ask a run to stop. A queued one is cancelled at once, a running one after the object at hand (≤ 30 s)."""
    now = timezone.now()
    CrawlRun.objects.filter(pk=run.pk, status=Status.QUEUED).update(
        status=Status.CANCELLED, cancel_requested_at=now, cancel_requested_by=by, finished_at=now
    )
    CrawlRun.objects.filter(pk=run.pk, status=Status.RUNNING).update(
        status=Status.CANCELLING, cancel_requested_at=now, cancel_requested_by=by
    )
    run.refresh_from_db()
    if run.status not in {Status.CANCELLED, Status.CANCELLING}:
        raise Conflict("STALE_CHANGE", f"Run {run.pk} has ended: {run.get_status_display().lower()}.")
    return run


def retry(run: CrawlRun, *, by: Any, trigger: str) -> CrawlRun:
    """Crawl again with the scope of a run that has ended; only what failed, where only parts did."""
    if run.status in CrawlRun.ACTIVE:
        raise Conflict("CRAWL_ALREADY_RUNNING", f"Run {run.pk} has not ended.", extra={"run_id": run.pk})
    return start(
        run.system, config=_failed_part(run), by=by, trigger=trigger, dry_run=run.dry_run, retry_of=run
    )


def _failed_part(run: CrawlRun) -> dict[str, Any]:
    """The scope of what a run with errors, or that broke off, failed at or left out; else the whole scope."""
    if run.status not in {Status.COMPLETED_WITH_ERRORS, Status.FAILED}:
        return run.config
    parts = [*(run.coverage.get("failed") or ()), *(run.coverage.get("skipped") or ())]
    broken = [each["name"] for each in run.coverage.get("schemas") or () if each["status"] != "listed"]
    excluded = {key: run.config.get(key) or [] for key in ("exclude_schemas", "exclude_tables")}
    if broken:  # by their own names, so that one which still cannot be seen fails again
        schemas = sorted({*broken, *(each["schema"] for each in parts)})
        narrow = {"schemas": [literal(name) for name in schemas], "tables": run.config.get("tables") or []}
    elif parts:
        tables = sorted({(each["schema"], each["name"]) for each in parts})
        narrow = {"tables": [_pattern(schema, name) for schema, name in tables]}
    else:
        return run.config
    try:
        return Scope.from_dict({**narrow, **excluded}).to_dict()
    except ScopeInvalid:  # more names, or longer ones, than a scope takes
        return run.config


def _pattern(schema: str, name: str) -> str:
    return f"{literal(schema)}.{literal(name)}" if schema else literal(name)


def mark_lost(system: System | None = None) -> int:
    """End the runs whose worker is silent, so that their systems are free again. Returns how many."""
    now = timezone.now()
    runs = CrawlRun.objects.all() if system is None else CrawlRun.objects.filter(system=system)
    # A heartbeat of the future: the clock was set back. A worker that lives beats again at once.
    ahead = now + timedelta(seconds=LOST_AFTER_SECONDS)
    runs.filter(status__in=[Status.RUNNING, Status.CANCELLING], heartbeat_at__gt=ahead).update(
        heartbeat_at=now
    )
    lost = runs.filter(
        status__in=[Status.RUNNING, Status.CANCELLING],
        heartbeat_at__lt=now - timedelta(seconds=LOST_AFTER_SECONDS),
    ).update(
        status=Status.LOST,
        finished_at=now,
        error_code="lost",
        error="The worker was not heard of for a minute. Nothing of this run was proposed; retry it.",
    )
    return lost + runs.filter(
        status=Status.QUEUED, created_at__lt=now - timedelta(seconds=QUEUED_TOO_LONG_SECONDS)
    ).update(
        status=Status.LOST,
        finished_at=now,
        error_code="lost",
        error="No worker took this run within a day; retry it when a worker is there.",
    )
