"""A run that reads and writes too many pairs of datasets draws none of them, whenever it grew so wide."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction

from aide.work.models import WorkItem
from aide.work.registry import TASKS
from lineage.merging import merge
from lineage.models import Edge
from tests.lineage.events import PG, columns, dataset, run_event, send
from tests.lineage.test_order import picture

pytestmark = pytest.mark.django_db


def told() -> list[dict[str, Any]]:
    """Run 1 grows to 3 x 3 pairs; run 2 of the same job stays small; run 3 says explicitly what it does."""
    lineage = {"inputs": [{"type": "DATASET", "namespace": PG, "name": "s.a.other"}]}
    return [
        run_event("START", run=1, reads=["s.a.r1", "s.a.r2"], writes=["s.a.w1"]),
        run_event("RUNNING", run=1, at="2026-03-01T10:01:00Z", reads=["s.a.r3"], writes=["s.a.w2"]),
        run_event("COMPLETE", run=1, at="2026-03-01T10:02:00Z", writes=["s.a.w3"]),
        run_event("COMPLETE", run=2, at="2026-03-02T10:00:00Z", reads=["s.a.r1"], writes=["s.a.w1"]),
        run_event(
            "COMPLETE", run=1, at="2026-03-01T10:03:00Z",
            writes=[dataset("s.a.w3", lineage=lineage, columnLineage=columns(c=[("s.a.r2", "c")]))],
        ),
    ]  # fmt: skip


@contextmanager
def undone() -> Iterator[None]:
    """What is written inside is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def do_what_waits() -> None:
    for item in list(WorkItem.objects.filter(task=merge.REDRAW)):
        TASKS[item.task].handler(**item.payload)
        item.delete()


def test_every_order_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "MOST_PAIRS", 6)
    found = []
    for order in list(itertools.permutations(told()))[::17]:
        with undone():
            for event in order:
                assert send(event)[0].status == "stored"
                do_what_waits()
            found.append(picture())
            found[-1].pop("events")
    assert {(edge[0][0][1], edge[1][0][1]) for edge in found[0]["edges"]} == {
        ("s.a.r1", "s.a.w1"),
        ("s.a.other", "s.a.w3"),
        ("s.a.r2", "s.a.w3"),
    }
    assert [number for number, each in enumerate(found) if each != found[0]] == []


def test_what_a_person_ended_stays_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "MOST_PAIRS", 6)
    events = told()
    for event in events[:2]:
        send(event)
    ended = Edge.objects.filter(source__name="s.a.r1", target__name="s.a.w1")
    ended.update(reason="wrong", ended_at="2026-04-01T00:00:00Z")
    for event in events[2:]:
        send(event)
    do_what_waits()
    assert [row.ended_at is not None for row in ended] == [True]
