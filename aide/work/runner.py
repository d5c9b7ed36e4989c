"""The in-process worker and scheduler: threads that do the work when there is no broker."""

from __future__ import annotations

import threading
import time

import structlog
from django.db import close_old_connections, connection
from django.db.utils import DatabaseError

from aide.work import queue
from aide.work.registry import TICKS

log = structlog.get_logger(__name__)

TICK_SECONDS = 10.0


def tick() -> None:
    """Do what is due by the clock: expired leases, lost messages, and each app's own."""
    for name, function in list(TICKS.items()):
        try:
            function()
        except Exception as error:  # noqa: BLE001 (one app's tick must not stop the others'; it runs again soon)
            log.error("work.tick_failed", tick=name, error=type(error).__name__)


class Runner:
    """Some threads that claim and carry out work, and one that ticks. Start once a process."""

    def __init__(self, *, threads: int = 3, poll_seconds: float = 1.0) -> None:
        self._stop = threading.Event()
        self._poll_seconds = poll_seconds
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name=f"work-{number}", daemon=True)
            for number in range(threads)
        ]
        self._threads.append(threading.Thread(target=self._tick, name="work-tick", daemon=True))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, *, timeout: float = 5.0) -> None:
        """Ask the threads to end after what they are doing, and wait a while for them."""
        self._stop.set()
        queue.wake.set()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, number: int) -> None:
        worker = queue.worker_name(f":{number}")
        while not self._stop.is_set():
            close_old_connections()
            try:
                item = queue.claim(worker=worker)
                if item is not None:
                    queue.execute(item)
                    continue
            except DatabaseError as error:
                log.warning("work.database_away", error=type(error).__name__)
            queue.wake.wait(self._poll_seconds)
            queue.wake.clear()
        connection.close()

    def _tick(self) -> None:
        worker = queue.worker_name()
        while not self._stop.is_set():
            close_old_connections()
            try:
                queue.beat(worker)
                queue.release_expired()
                tick()
            except DatabaseError as error:
                log.warning("work.database_away", error=type(error).__name__)
            self._stop.wait(TICK_SECONDS)
        connection.close()


def drain(*, limit: int = 1000) -> int:
    """Carry out everything that is due, here and now. Returns how many pieces; for commands and tests."""
    worker = queue.worker_name(":drain")
    done = 0
    while done < limit:
        item = queue.claim(worker=worker)
        if item is None:
            break
        queue.execute(item)
        done += 1
    return done
