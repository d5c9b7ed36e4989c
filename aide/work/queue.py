"""Enqueue, claim, lease and retry: the one code for both carriers of work."""

from __future__ import annotations

import os
import socket
import threading
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from aide.core.errors import DomainError
from aide.work.models import WorkerBeat, WorkItem
from aide.work.registry import TASKS, Task

log = structlog.get_logger(__name__)

RUN_ITEM = "aide.work.run_item"
"""The name of the Celery task that carries out one item."""

LONGEST_WAIT_SECONDS = 300
SLACK = timedelta(seconds=60)

wake = threading.Event()
"""Set when work was queued in this process, so that its runner need not wait for its next look."""


def enqueue(
    task: str, *, key: str | None = None, delay_seconds: float = 0, **payload: Any
) -> WorkItem | None:
    """Queue a piece of work in the caller's transaction; it starts after the commit.

    With `key`, nothing is queued (and None returned) while a piece with that key waits.
    """
    if task not in TASKS:
        raise LookupError(f"no task is named {task}")
    due = timezone.now() + timedelta(seconds=delay_seconds)
    try:
        with transaction.atomic():
            item = WorkItem.objects.create(task=task, payload=payload, key=key, run_after=due)
    except IntegrityError:
        if key is None:
            raise
        return None
    transaction.on_commit(lambda: _announce(item.pk))
    return item


def _announce(item_id: int) -> None:
    if settings.AIDE_BROKER_URL:
        send(item_id)
    else:
        wake.set()


def send(item_id: int) -> None:
    """Give an item's id to Celery. A broker that is away is no loss: the tick sends it again."""
    from aide.celery import app  # only here, so that no process without a broker imports Celery

    WorkItem.objects.filter(pk=item_id).update(sent_at=timezone.now())
    try:
        app.send_task(RUN_ITEM, args=[item_id], retry=False)
    except OSError as error:  # the broker is away; the row stays queued
        log.warning("work.broker_away", item=item_id, error=type(error).__name__)
    except Exception as error:  # noqa: BLE001 (kombu wraps what the transport raises; the row stays queued)
        log.warning("work.not_sent", item=item_id, error=type(error).__name__)


def claim(item_id: int | None = None, *, worker: str) -> WorkItem | None:
    """Take the oldest due item (or the one named) for this worker, or None.

    Two workers never take the same item: rows are locked, and on SQLite the whole transaction is.
    """
    now = timezone.now()
    with transaction.atomic():
        due = WorkItem.objects.select_for_update(skip_locked=True).filter(
            state=WorkItem.State.QUEUED, run_after__lte=now
        )
        if item_id is not None:
            due = due.filter(pk=item_id)
        item = due.order_by("run_after", "id").first()
        if item is None:
            return None
        task = TASKS.get(item.task)
        item.state = WorkItem.State.RUNNING
        item.attempts += 1
        item.worker = worker
        item.lease_until = now + timedelta(seconds=task.lease_seconds if task else 60)
        item.save(update_fields=["state", "attempts", "worker", "lease_until"])
        return item


def execute(item: WorkItem) -> None:
    """Carry out a claimed item; done it is deleted, failed it waits longer each time, then is dead."""
    task = TASKS.get(item.task)
    if task is None:
        _fail(item, max_attempts=0, error=f"no task is named {item.task}")
        return
    renewal = _Renewal(item, task)
    renewal.start()
    try:
        task.handler(**item.payload)
    except DomainError as error:
        _fail(item, max_attempts=task.max_attempts, error=error.detail)
    except Exception as error:  # noqa: BLE001 (kept on the row; its text may hold a secret, so only its class is)
        log.error("work.failed", task=item.task, item=item.pk, error=type(error).__name__)
        _fail(item, max_attempts=task.max_attempts, error=type(error).__name__)
    else:
        WorkItem.objects.filter(pk=item.pk, worker=item.worker, attempts=item.attempts).delete()
    finally:
        renewal.stop()


def _fail(item: WorkItem, *, max_attempts: int, error: str) -> None:
    dead = item.attempts >= max_attempts
    WorkItem.objects.filter(pk=item.pk, worker=item.worker, attempts=item.attempts).update(
        state=WorkItem.State.DEAD if dead else WorkItem.State.QUEUED,
        key=None,
        lease_until=None,
        last_error=error,
        run_after=timezone.now() + timedelta(seconds=min(2**item.attempts, LONGEST_WAIT_SECONDS)),
    )


def release_expired() -> int:
    """Queue again what silent workers held. Returns how many."""
    now = timezone.now()
    _after_the_clock_was_set_back(now)
    return WorkItem.objects.filter(state=WorkItem.State.RUNNING, lease_until__lt=now).update(
        state=WorkItem.State.QUEUED, key=None, lease_until=None, worker="", run_after=now
    )


def _after_the_clock_was_set_back(now: datetime) -> None:
    """Leases and waiting times that are longer than any that is given out end when they would from now on."""
    longest = max([LONGEST_WAIT_SECONDS, *(task.lease_seconds for task in TASKS.values())])
    limit = now + timedelta(seconds=longest)
    WorkItem.objects.filter(state=WorkItem.State.RUNNING, lease_until__gt=limit + SLACK).update(
        lease_until=limit
    )
    WorkItem.objects.filter(
        state=WorkItem.State.QUEUED, created_at__gt=now + SLACK, run_after__gt=now
    ).update(run_after=now)


def resend_unclaimed(*, after_seconds: int = 30) -> None:
    """With a broker: send again what no worker has taken, in case a message was lost."""
    now = timezone.now()
    before = now - timedelta(seconds=after_seconds)
    waiting = WorkItem.objects.filter(state=WorkItem.State.QUEUED, run_after__lte=now)
    for item in waiting.order_by("id")[:500]:
        if item.sent_at is None or item.sent_at < before:
            send(item.pk)


def beat(worker: str) -> None:
    """Note that a worker is alive."""
    WorkerBeat.objects.update_or_create(name=worker, defaults={"seen_at": timezone.now()})


def workers_alive(*, within_seconds: int = 60) -> int:
    """How many workers were heard of lately."""
    since = timezone.now() - timedelta(seconds=within_seconds)
    return WorkerBeat.objects.filter(seen_at__gte=since).count()


def worker_name(suffix: str = "") -> str:
    """A name that no other process on any host has."""
    return f"{socket.gethostname()}:{os.getpid()}{suffix}"


class _Renewal(threading.Thread):
    """Renews an item's lease while its handler works."""

    def __init__(self, item: WorkItem, task: Task) -> None:
        super().__init__(name=f"lease-{item.pk}", daemon=True)
        self._mine = {"pk": item.pk, "worker": item.worker, "attempts": item.attempts}
        self._task = task
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(self._task.lease_seconds / 3):
            until = timezone.now() + timedelta(seconds=self._task.lease_seconds)
            try:
                WorkItem.objects.filter(**self._mine).update(lease_until=until)
            except DatabaseError as error:  # the next renewal may reach it; else another worker takes over
                log.warning("work.lease_not_renewed", error=type(error).__name__)
            finally:
                connection.close()

    def stop(self) -> None:
        self._done.set()
