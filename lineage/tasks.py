"""Background work of lineage: forward the outbox where no relay of its own does, and prune what is old."""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from aide.work.queue import enqueue, worker_name
from aide.work.registry import every_tick, task
from lineage import announcing, metrics, outbox, retention, waking

if TYPE_CHECKING:
    from lineage.relay import Relay

# Imported so that they listen and count; the app of queued work imports this module in every process.
__all__ = ["announcing", "forward", "forward_leftovers", "metrics", "prune", "prune_when_due"]

NEGLECTED = dt.timedelta(seconds=60)
_relay: Relay | None = None
_busy = threading.Lock()


@task(waking.TASK, lease_seconds=120, max_attempts=3)
def forward() -> None:
    """Send what is due. One thread of a process at a time; the producer lives on between turns."""
    from lineage.relay import Relay  # with it comes the broker's client, which few processes need

    global _relay
    if not _busy.acquire(blocking=False):
        return
    try:
        if _relay is None:
            _relay = Relay(worker_name(":relay"))
        if not _relay.is_paused:
            _relay.run_until_idle(seconds=45)
    finally:
        _busy.release()


@every_tick("lineage.forward")
def forward_leftovers() -> None:
    """Without a broker of work, look for what waits; with one, only when no relay has looked for a while."""
    oldest = outbox.oldest_waiting()
    if oldest is None:
        return
    if settings.AIDE_BROKER_URL and (timezone.now() - oldest < NEGLECTED or outbox.relays_alive()):
        return
    enqueue(waking.TASK, key=waking.TASK)


@task("lineage.prune", lease_seconds=120, max_attempts=3)
def prune() -> None:
    """Delete what is older than it has to be kept."""
    retention.prune()


@every_tick("lineage.prune")
def prune_when_due() -> None:
    """Queue a pruning when something is old enough."""
    if retention.is_due():
        enqueue("lineage.prune", key="lineage.prune")
