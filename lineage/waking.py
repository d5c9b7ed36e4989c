"""Waking the relay of this process after a commit, where there is one; a relay of its own process looks by itself."""

from __future__ import annotations

import threading
import time

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction

from aide.work.queue import enqueue

log = structlog.get_logger(__name__)

TASK = "lineage.forward"
EVERY_SECONDS = 1.0

_lock = threading.Lock()
_last = -EVERY_SECONDS


def after_commit() -> None:
    """Let the messages put in this transaction be sent soon. Never fails, and costs nothing most of the time."""
    if not settings.AIDE_BROKER_URL:
        transaction.on_commit(_queue, robust=True)


def _queue() -> None:
    # At most once a second, outside of the writer's transaction: the waiting key is unique.
    global _last
    now = time.monotonic()
    with _lock:
        if now - _last < EVERY_SECONDS:
            return
        _last = now
    try:
        enqueue(TASK, key=TASK, delay_seconds=EVERY_SECONDS)
    except DatabaseError as error:  # the tick looks again
        log.warning("outbox.not_woken", error=type(error).__name__)
