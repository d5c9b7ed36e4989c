"""The two Celery tasks: carry out one item, and the tick that beat sends."""

from __future__ import annotations

from celery import shared_task

from aide.work import queue
from aide.work.runner import tick


@shared_task(name=queue.RUN_ITEM, ignore_result=True)
def run_item(item_id: int) -> None:
    """Carry out the item unless another worker has it; anything that fails is kept on its row."""
    worker = queue.worker_name()
    queue.beat(worker)
    item = queue.claim(item_id, worker=worker)
    if item is not None:
        queue.execute(item)


@shared_task(name="aide.work.tick", ignore_result=True)
def run_tick() -> None:
    """What is due by the clock, every ten seconds."""
    queue.beat(queue.worker_name())
    queue.release_expired()
    queue.resend_unclaimed()
    tick()
