"""Keeps a crawl within its time and lets it be stopped, even while a statement is running."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from aide_crawler.errors import CrawlError
from aide_crawler.limits import Limits, Progress

Result = TypeVar("Result")
_POLL_SECONDS = 0.25
_GRACE_SECONDS = 2.0
_BETWEEN_REPORTS = 0.2


class Watch:
    """The clock and the stop signal of one crawl.

    Driver calls run on a thread of their own, so that the caller's `should_stop` is always asked on
    the caller's thread, and a driver that hangs cannot hold the crawl.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.limits = limits
        self.interrupt: Callable[[], None] | None = None
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._ends = time.monotonic() + limits.total_seconds
        self._reported = 0.0
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Raise CrawlError cancelled or timeout when the crawl must end."""
        if self._should_stop is not None and self._should_stop():
            raise CrawlError("cancelled", "The crawl was cancelled.")
        if time.monotonic() >= self._ends:
            raise self._too_long()

    def remaining(self) -> float:
        """Seconds until the crawl as a whole is over its time."""
        return max(0.0, self._ends - time.monotonic())

    def progress(self, progress: Progress, *, important: bool = False) -> None:
        """Tell of progress, not more often than five times a second unless it is important."""
        if self._on_progress is None:
            return
        now = time.monotonic()
        if important or now - self._reported >= _BETWEEN_REPORTS:
            self._reported = now
            self._on_progress(progress)

    def run(
        self, call: Callable[[], Result], *, seconds: float, too_long: CrawlError | None = None
    ) -> Result:
        """The call's result; CrawlError when it takes longer, or the crawl is stopped meanwhile."""
        self.check()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="aide-crawler", daemon=True)
            self._thread.start()
        job = _Job(call)
        self._jobs.put(job)
        ends = time.monotonic() + seconds
        while not job.done.wait(_POLL_SECONDS):
            try:
                self.check()
            except CrawlError:
                self._abandon(job)
                raise
            if time.monotonic() >= ends:
                self._abandon(job)
                raise too_long or CrawlError(
                    "timeout", f"A statement took longer than {self.limits.statement_seconds:g} seconds."
                )
        return job.result()

    def close(self) -> None:
        """Let the thread end; a call that still hangs is left behind."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join(timeout=_GRACE_SECONDS)
            self._thread = None

    def _abandon(self, job: _Job) -> None:
        job.abandoned = True
        if self.interrupt is not None:
            self.interrupt()
        job.done.wait(_GRACE_SECONDS)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.run()

    def _too_long(self) -> CrawlError:
        return CrawlError("timeout", f"The crawl took longer than {self.limits.total_seconds:g} seconds.")


class _Job:
    """One call handed to the thread, and its outcome."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.done = threading.Event()
        self.abandoned = False
        self._call = call
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._value = self._call()
            if self.abandoned and hasattr(self._value, "close"):
                self._value.close()
        except BaseException as error:  # noqa: BLE001 - kept here and raised again where the caller waits
            self._error = error
        finally:
            self._call = _nothing
            self.done.set()

    def result(self) -> Any:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._value


def _nothing() -> None:
    return None
