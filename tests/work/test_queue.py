"""The row is the queue: claimed once, leased, retried, never lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from aide.core.errors import Conflict
from aide.work import queue, runner
from aide.work.models import WorkerBeat, WorkItem
from aide.work.registry import TASKS, TICKS, Task
from tests.waiting import wait_until

done: list[Any] = []


@pytest.fixture(autouse=True)
def _tasks() -> Iterator[None]:
    """Tasks of the tests' own, taken away afterwards."""
    done.clear()

    def note(value: Any = None) -> None:
        done.append(value)

    def refuse() -> None:
        raise Conflict("CONFLICT", "Not today.")

    def break_down() -> None:
        raise RuntimeError("the password is hunter2")

    def slow() -> None:
        time.sleep(1.5)
        done.append("slow")

    mine = {
        "test.note": Task("test.note", note, 60, 5),
        "test.refuse": Task("test.refuse", refuse, 60, 2),
        "test.break": Task("test.break", break_down, 60, 1),
        "test.slow": Task("test.slow", slow, 1, 1),
    }
    TASKS.update(mine)
    yield
    for name in mine:
        del TASKS[name]


def test_work_is_done_in_order_and_its_row_is_gone(db: None) -> None:
    for value in range(3):
        queue.enqueue("test.note", value=value)
    assert runner.drain() == 3
    assert done == [0, 1, 2]
    assert WorkItem.objects.count() == 0


def test_an_unknown_task_is_refused_at_once(db: None) -> None:
    with pytest.raises(LookupError):
        queue.enqueue("test.nothing")


def test_work_that_its_program_no_longer_knows_is_kept_as_dead(db: None) -> None:
    WorkItem.objects.create(task="test.gone", run_after=timezone.now())
    runner.drain()
    item = WorkItem.objects.get()
    assert (item.state, item.last_error) == ("dead", "no task is named test.gone")


def test_one_piece_with_a_key_waits_at_a_time(db: None) -> None:
    assert queue.enqueue("test.note", key="k") is not None
    assert queue.enqueue("test.note", key="k") is None
    item = queue.claim(worker="w")
    assert item is not None
    assert queue.enqueue("test.note", key="k") is not None, "one may wait while another runs"
    queue.execute(item)
    assert WorkItem.objects.count() == 1


def test_work_waits_for_its_time(db: None) -> None:
    queue.enqueue("test.note", delay_seconds=3600)
    assert runner.drain() == 0


def test_work_of_a_transaction_that_is_undone_is_never_done(transactional_db: None) -> None:
    with transaction.atomic():
        queue.enqueue("test.note")
        transaction.set_rollback(True)
    assert runner.drain() == 0


def test_failed_work_is_tried_again_later_and_then_dead(db: None) -> None:
    queue.enqueue("test.refuse")
    runner.drain()
    item = WorkItem.objects.get()
    assert (item.state, item.attempts, item.last_error) == ("queued", 1, "Not today.")
    assert item.run_after > timezone.now()
    WorkItem.objects.update(run_after=timezone.now())
    runner.drain()
    item.refresh_from_db()
    assert (item.state, item.attempts) == ("dead", 2)


def test_the_text_of_a_bug_is_not_kept(db: None, caplog: Any) -> None:
    queue.enqueue("test.break")
    runner.drain()
    assert WorkItem.objects.get().last_error == "RuntimeError"
    assert "hunter2" not in caplog.text


def test_what_a_silent_worker_held_is_done_by_another(db: None) -> None:
    queue.enqueue("test.note", value=7)
    held = queue.claim(worker="dead one")
    assert held is not None
    assert queue.claim(worker="other") is None
    assert queue.release_expired() == 0
    WorkItem.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert queue.release_expired() == 1
    taken = queue.claim(worker="other")
    assert taken is not None
    queue.execute(taken)
    assert done == [7]
    # The first one wakes up and finishes late: the row is not its own any more.
    queue.execute(held)
    assert WorkItem.objects.count() == 0


def test_a_late_failure_does_not_touch_anothers_claim(db: None) -> None:
    queue.enqueue("test.refuse")
    held = queue.claim(worker="slow one")
    assert held is not None
    WorkItem.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    queue.release_expired()
    taken = queue.claim(worker="other")
    assert taken is not None
    queue.execute(held)
    item = WorkItem.objects.get()
    assert (item.state, item.worker) == ("running", "other")


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_the_work_goes_on() -> None:
    queue.enqueue("test.slow")
    item = queue.claim(worker="w")
    assert item is not None
    thread = threading.Thread(target=lambda: (queue.execute(item), connection.close()))
    thread.start()
    time.sleep(1.2)
    assert queue.release_expired() == 0
    thread.join()
    assert done == ["slow"]
    assert WorkItem.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_take_the_same_piece() -> None:
    for value in range(40):
        queue.enqueue("test.note", value=value)
    taken: list[int] = []

    def work(name: str) -> None:
        while (item := queue.claim(worker=name)) is not None:
            taken.append(item.pk)
            queue.execute(item)
        connection.close()

    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 40
    assert sorted(done) == list(range(40))


@pytest.mark.django_db(transaction=True)
def test_the_runner_works_ticks_and_stops() -> None:
    ticked = threading.Event()
    TICKS["test"] = ticked.set
    running = runner.Runner(threads=2, poll_seconds=0.1)
    try:
        running.start()
        queue.enqueue("test.note", value="by the runner")
        wait_until(lambda: done == ["by the runner"])
        assert ticked.wait(10)
        wait_until(lambda: WorkerBeat.objects.exists())
        assert queue.workers_alive() == 1
    finally:
        running.stop()
        del TICKS["test"]


def test_one_broken_tick_does_not_stop_the_others(db: None, caplog: Any) -> None:
    def broken() -> None:
        raise RuntimeError("the password is hunter2")

    ticked: list[int] = []
    TICKS["test.1"], TICKS["test.2"] = broken, lambda: ticked.append(1)
    try:
        runner.tick()
    finally:
        del TICKS["test.1"], TICKS["test.2"]
    assert ticked == [1]
    assert "hunter2" not in caplog.text
