"""Looking at the source: a heartbeat beside it, progress out, a cancel flag in, and no open transaction."""

from __future__ import annotations

import time
from typing import Any

import structlog
from aide_crawler import CrawlError, Limits, Scope, Snapshot, inspect

from crawling import connect, review
from crawling.crawl import runs
from crawling.crawl.pulse import Pulse
from crawling.crawl.receive import receive
from crawling.models import CrawlRun
from crawling.stand_in import stand_in_of
from registry.models import System

log = structlog.get_logger(__name__)
LIMITS = Limits()


def crawl_now(system: System, **how: Any) -> CrawlRun:
    """Crawl here and now, without a worker; takes and refuses what `runs.prepare` does. Returns the ended run."""
    run = runs.prepare(system, **how)
    crawl(run.pk)
    run.refresh_from_db()
    return run


def crawl(run_id: int) -> None:
    """Carry out a queued run to one of its true ends. Nothing is proposed unless the look came to its end."""
    run = runs.begin(run_id)
    if run is None:
        return
    log.info("crawl.started", run=run.pk, system=run.system.code)
    pulse = Pulse(run.pk)
    pulse.start()
    began = time.monotonic()
    try:
        snapshot = _look(run, pulse)
        receive(run, snapshot, timings={"look": round(time.monotonic() - began, 3)})
        if run.plan is not None and run.plan.auto_approve and not run.dry_run:
            review.apply_by_plan(run, risks=run.plan.auto_approve)
    except CrawlError as error:
        status = runs.Status.CANCELLED if error.code == "cancelled" else runs.Status.FAILED
        runs.finish(run, status, error=error.sentence, error_code=error.code)
    except Exception as error:  # noqa: BLE001 (the run must end truly; the text may hold a secret, so only the class)
        log.error("crawl.broke", run=run.pk, error=type(error).__name__)
        runs.finish(
            run,
            runs.Status.FAILED,
            error="Something broke on our side while this run was handled. Nothing was proposed.",
            error_code="failed",
        )
    except (KeyboardInterrupt, SystemExit):
        runs.finish(run, runs.Status.CANCELLED, error="The run was interrupted.", error_code="cancelled")
        raise
    finally:
        pulse.stop()
    log.info("crawl.ended", run=run.pk, status=run.status)


def _look(run: CrawlRun, pulse: Pulse) -> Snapshot:
    bundled = stand_in_of(run.system)
    if bundled is not None:
        return bundled.look(
            Scope.from_dict(run.config), on_progress=pulse.progress, should_stop=pulse.cancelled.is_set
        )
    source = connect.connection_to(run.system)
    return inspect(
        source.url,
        password=source.password,
        scope=Scope.from_dict(run.config),
        limits=LIMITS,
        on_progress=pulse.progress,
        should_stop=pulse.cancelled.is_set,
    )
