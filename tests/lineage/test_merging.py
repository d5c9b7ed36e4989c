"""Merging: nothing is lost when it fails, writers do not stand in each other's way, lifecycle and runs are kept."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import OperationalError, connection

from aide.work import runner
from lineage import merging
from lineage.merging import receiving
from lineage.models import Edge, Job, LineageEvent, Node, NodeName, OutboxMessage, Run, RunDataset
from tests.lineage.events import PG, dataset, facet, run_event, send


@pytest.fixture
def broken(monkeypatch):
    """Merging fails as long as the list says so."""
    faults: list[Exception] = []
    real = receiving.merge

    def merge(events: Any) -> None:
        if faults:
            raise faults[0]
        real(events)

    monkeypatch.setattr(receiving, "merge", merge)
    return faults


@pytest.mark.parametrize(
    "fault", [ValueError("x"), OperationalError("lock not available")], ids=["bug", "busy"]
)
def test_an_event_that_cannot_be_merged_is_kept_and_merged_later(db, broken, fault):
    broken.append(fault)
    receipt = send(run_event(reads=["a.b.c"], writes=["a.b.d"]))[0]
    assert (receipt.status, receipt.merged) == ("stored", False)
    row = LineageEvent.objects.get()
    assert (row.state, row.error) == ("failed", type(fault).__name__)
    assert OutboxMessage.objects.count() == 1
    assert not Edge.objects.exists()
    broken.clear()
    assert merging.merge_again() == 0
    row.refresh_from_db()
    assert (row.state, row.error) == ("merged", "")
    assert Edge.objects.count() == 1
    assert send(run_event(reads=["a.b.c"], writes=["a.b.d"]))[0].status == "duplicate"


def test_one_bad_event_does_not_keep_the_others_out_of_the_graph(db, monkeypatch):
    real = receiving.merge

    def merge(events: Any) -> None:
        if any(event.job and event.job.name == "bad" for event in events):
            raise ValueError
        real(events)

    monkeypatch.setattr(receiving, "merge", merge)
    send(run_event(run=1, writes=["a.b.c"]), run_event(run=2, job="bad"), run_event(run=3, writes=["a.b.d"]))
    assert LineageEvent.objects.filter(state="failed").count() == 3
    assert merging.merge_again() == 1
    assert LineageEvent.objects.get(state="failed").job_name == "bad"
    assert Node.objects.count() == 2


def test_the_task_merges_what_was_kept(db, broken):
    broken.append(ValueError("x"))
    send(run_event(writes=["a.b.c"]))
    broken.clear()
    from aide.work.models import WorkItem

    WorkItem.objects.update(run_after="2020-01-01T00:00:00Z")
    runner.drain()
    assert LineageEvent.objects.get().state == "merged"


def test_a_run_keeps_all_of_its_events_together(db):
    send(run_event("START", at="2026-03-01T10:00:00Z", reads=["a.b.c"]))
    send(run_event("COMPLETE", at="2026-03-01T10:05:00Z", writes=["a.b.d"]))
    run = Run.objects.get()
    assert (run.state, run.started_at.minute, run.ended_at.minute) == ("COMPLETE", 0, 5)
    assert {(row.node.name, row.role) for row in RunDataset.objects.all()} == {
        ("a.b.c", "input"),
        ("a.b.d", "output"),
    }
    edge = Edge.objects.get()
    assert (edge.source.name, edge.target.name, edge.job.name) == ("a.b.c", "a.b.d", "nightly")


def test_an_event_without_datasets_takes_none_away(db):
    send(run_event("COMPLETE", run=1, reads=["a.b.c"], writes=["a.b.d"]))
    send(run_event("COMPLETE", run=2, at="2026-03-02T10:00:00Z"))
    assert Edge.objects.filter(ended_at__isnull=True).count() == 1


def test_a_symlink_that_comes_later_joins_two_graphs(db):
    hive, hdfs = dataset("d.t", "hive://meta:9083"), dataset("/warehouse/d.db/t", "hdfs://nn:8020")
    send(run_event(run=1, job="a", reads=["a.b.c"], writes=[hive]))
    send(run_event(run=2, job="b", reads=[hdfs], writes=["a.b.e"]))
    assert Node.objects.count() == 4
    linked = hdfs | {"facets": {"symlinks": facet(identifiers=[{**hive, "type": "TABLE"}])}}
    send({"eventTime": "2026-03-05T10:00:00Z", "dataset": linked})
    assert Node.objects.count() == 3
    node = Node.objects.get(name="d.t")
    assert set(node.names.values_list("namespace", flat=True)) == {"hive://meta:9083", "hdfs://nn:8020"}
    assert (node.incoming.count(), node.outgoing.count()) == (1, 1)


def test_a_dropped_dataset_ends_and_comes_back(db):
    send(run_event(run=1, at="2026-03-01T10:00:00Z", reads=["a.b.c"], writes=["a.b.d"]))
    gone = dataset("a.b.d", lifecycleStateChange={"lifecycleStateChange": "DROP"})
    send(run_event(run=2, at="2026-03-02T10:00:00Z", job="drop", writes=[gone]))
    assert Node.objects.get(name="a.b.d").is_gone
    assert Edge.objects.get().ended_at is not None
    send(run_event(run=3, at="2026-03-03T10:00:00Z", reads=["a.b.c"], writes=["a.b.d"]))
    assert not Node.objects.get(name="a.b.d").is_gone
    assert Edge.objects.get().ended_at is None


@pytest.mark.django_db(transaction=True)
def test_writers_at_once_lose_nothing_and_never_deadlock():
    """Threads send overlapping batches in opposite orders; on SQLite they take turns as well."""
    events = [
        run_event(
            run=number, job=f"j{number % 5}", reads=[f"s.p.t{number % 7}"], writes=[f"s.p.t{number % 11}"]
        )
        for number in range(80)
    ]
    wrong: list[Exception] = []

    def work(listed: list[Any]) -> None:
        try:
            for start in range(0, len(listed), 20):
                for _ in range(20):
                    try:
                        send(*listed[start : start + 20])
                        break
                    except OperationalError as error:
                        if connection.vendor == "postgresql":
                            raise
                        last = error
                else:
                    raise last
        except Exception as error:  # noqa: BLE001 (told below)
            wrong.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=work, args=(each,))
        for each in (events, events[::-1], events[40:] + events[:40])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []
    merging.merge_again()
    assert LineageEvent.objects.count() == OutboxMessage.objects.count() == 80
    assert LineageEvent.objects.filter(state="merged").count() == 80
    assert (Job.objects.count(), Run.objects.count()) == (5, 80)
    assert NodeName.objects.count() == Node.objects.count() == 11
    expected = {(n % 7, n % 11, n % 5) for n in range(80) if n % 7 != n % 11}
    assert Edge.objects.count() == len(expected)


def test_names_of_the_same_place_are_one_node(db):
    send(
        run_event(
            reads=[
                dataset("shop.public.t", PG),
                dataset('"shop"."public"."t"', "postgresql://DB1.example.com"),
            ]
        )
    )
    assert (Node.objects.count(), NodeName.objects.count()) == (1, 2)


DROP = {"lifecycleStateChange": "DROP"}


def test_an_edge_that_is_told_late_to_what_its_run_dropped_has_ended(db):
    send(
        run_event(
            "COMPLETE", at="2026-03-01T11:00:00Z", writes=[dataset("a.b.tmp", lifecycleStateChange=DROP)]
        )
    )
    send(run_event("START", at="2026-03-01T10:00:00Z", reads=["a.b.c"]))
    assert Edge.objects.get().ended_at is not None


def test_a_dataset_event_drops_a_dataset(db):
    send(run_event(at="2026-03-01T10:00:00Z", reads=["a.b.c"], writes=["a.b.d"]))
    gone = dataset("a.b.d", lifecycleStateChange=DROP)
    send({"eventTime": "2026-03-02T10:00:00Z", "dataset": gone})
    assert Node.objects.get(name="a.b.d").is_gone
    assert Edge.objects.get().ended_at is not None


def test_events_without_a_job_that_tell_no_flow_say_nothing_of_the_job_of_declared_edges(db):
    flow = {"inputs": [{"type": "DATASET", "namespace": PG, "name": "a.b.c"}]}
    send(
        {"eventTime": "2026-03-01T10:00:00Z", "dataset": dataset("a.b.other")},
        {"eventTime": "2026-03-02T10:00:00Z", "dataset": dataset("a.b.d", lineage=flow)},
    )
    assert Job.objects.get().first_seen == Edge.objects.get().first_seen
