"""The heartbeat beside a run: progress out, the wish to cancel in. Only crawling.crawl uses it."""

from __future__ import annotations

import threading

import structlog
from aide_crawler import Progress
from django.db import connection
from django.db.utils import DatabaseError
from django.utils import timezone

from crawling.models import CrawlRun

log = structlog.get_logger(__name__)


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
                "current_object": f"{latest.schema or ''}.{latest.table or ''}".strip(".")[:2000],
                "schemas_done": latest.schemas_done,
                "schemas_total": latest.schemas_total,
                "tables_done": latest.tables_done,
                "tables_total": latest.tables_total,
            }
        mine = CrawlRun.objects.filter(
            pk=self._run_id, status__in=[CrawlRun.Status.RUNNING, CrawlRun.Status.CANCELLING]
        )
        mine.update(**values)
        status = CrawlRun.objects.filter(pk=self._run_id).values_list("status", flat=True).first()
        if status != CrawlRun.Status.RUNNING:
            self.cancelled.set()

    def stop(self) -> None:
        self._done.set()
        self.join(timeout=5)
