"""Looking at the source: a heartbeat beside it, progress out, a cancel flag in, and no open transaction."""

from __future__ import annotations

import threading
import time

import structlog
from aide_crawler import CrawlError, Limits, Progress, Scope, Snapshot, inspect
from django.db import connection
from django.db.utils import DatabaseError
from django.utils import timezone

from crawling import connect
from crawling.crawl import runs
from crawling.crawl.receive import receive
from crawling.models import CrawlRun

log = structlog.get_logger(__name__)
LIMITS = Limits()


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
        pulse.stop_if_cancelled()
        receive(run, snapshot, timings={"look": round(time.monotonic() - began, 3)})
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
    finally:
        pulse.stop()
    log.info("crawl.ended", run=run.pk, status=run.status)


def _look(run: CrawlRun, pulse: Pulse) -> Snapshot:
    source = connect.connection_to(run.system)
    return inspect(
        source.url,
        password=source.password,
        scope=Scope.from_dict(run.config),
        limits=LIMITS,
        on_progress=pulse.progress,
        should_stop=pulse.cancelled.is_set,
    )


class Pulse(threading.Thread):
    """Writes a run's heartbeat and progress every few seconds and reads whether it shall stop."""

    def __init__(self, run_id: int, *, seconds: float = 2.0) -> None:
        super().__init__(name=f"pulse-{run_id}", daemon=True)
        self._run_id = run_id
        self._seconds = seconds
        self._done = threading.Event()
        self._latest: Progress | None = None
        self.cancelled = threading.Event()

    def progress(self, latest: Progress) -> None:
        self._latest = latest

    def run(self) -> None:
        while not self._done.wait(self._seconds):
            try:
                self._beat()
            except DatabaseError as error:
                log.warning("crawl.heartbeat_failed", run=self._run_id, error=type(error).__name__)
            finally:
                connection.close()

    def _beat(self) -> None:
        values: dict[str, object] = {"heartbeat_at": timezone.now()}
        latest = self._latest
        if latest is not None:
            values |= {
                "current_object": f"{latest.schema or ''}.{latest.table or ''}".strip("."),
                "schemas_done": latest.schemas_done,
                "schemas_total": latest.schemas_total,
                "tables_done": latest.tables_done,
                "tables_total": latest.tables_total,
            }
        mine = CrawlRun.objects.filter(
            pk=self._run_id, status__in=[runs.Status.RUNNING, runs.Status.CANCELLING]
        )
        mine.update(**values)
        status = CrawlRun.objects.values_list("status", flat=True).get(pk=self._run_id)
        if status != runs.Status.RUNNING:
            self.cancelled.set()

    def stop_if_cancelled(self) -> None:
        """Between looking and proposing: a run that was cancelled or lost proposes nothing."""
        status = CrawlRun.objects.values_list("status", flat=True).get(pk=self._run_id)
        if status != runs.Status.RUNNING:
            raise CrawlError("cancelled", "The run was cancelled; nothing of it was proposed.")

    def stop(self) -> None:
        self._done.set()
        self.join(timeout=5)
