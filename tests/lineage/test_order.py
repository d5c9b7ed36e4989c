"""However events come, shuffled, repeated, one by one or in batches, the graph is the same."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from django.db import transaction

from lineage.models import (
    ColumnEdge,
    Edge,
    Job,
    JobDataset,
    LineageEvent,
    Node,
    NodeColumn,
    NodeName,
    Run,
    RunDataset,
)
from tests.lineage.events import PG, PRODUCER, SPEC, columns, dataset, facet, run_event, send

OTHER_SPELLING = "postgresql://DB1.example.com"


class UndoneError(Exception):
    pass


def story() -> list[dict[str, Any]]:
    """Events with everything that could depend on their order."""
    renamed = {
        "lifecycleStateChange": "RENAME",
        "previousIdentifier": {"namespace": PG, "name": "shop.a.old"},
    }
    linked = {"identifiers": [{"namespace": "hive://meta:9083", "name": "a.orders", "type": "TABLE"}]}
    masking = {
        "fields": {
            "email": {
                "inputFields": [
                    {
                        "namespace": PG, "name": "shop.a.orders", "field": "mail",
                        "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}],
                    }
                ]
            }
        }
    }  # fmt: skip
    return [
        run_event("START", run=1, at="2026-03-01T10:00:00Z", reads=["shop.a.orders"]),
        run_event("RUNNING", run=1, at="2026-03-01T10:01:00Z", reads=["shop.a.people"]),
        run_event("COMPLETE", run=1, at="2026-03-01T10:02:00Z", writes=["shop.b.sums"]),
        run_event("FAIL", run=1, at="2026-03-01T10:02:00Z", writes=["shop.b.more"]),
        run_event("OTHER", run=1, at="2026-03-01T10:09:00Z"),
        run_event("START", run=2, at="2026-03-02T10:00:00Z", writes=[dataset("shop.b.tmp")]),
        run_event(
            "COMPLETE",
            run=2,
            at="2026-03-02T10:05:00Z",
            reads=["shop.a.orders"],
            writes=[dataset("shop.b.tmp", lifecycleStateChange={"lifecycleStateChange": "DROP"})],
        ),
        run_event("COMPLETE", run=3, at="2026-03-01T09:00:00Z", reads=["shop.b.tmp"], writes=["shop.b.last"]),
        run_event("COMPLETE", run=4, at="2026-03-03T09:00:00Z", reads=["shop.b.tmp"], writes=["shop.b.last"]),
        run_event(
            "COMPLETE",
            run=5,
            job="masks",
            at="2026-03-01T11:00:00Z",
            reads=[dataset("shop.a.orders", OTHER_SPELLING)],
            writes=[dataset("shop.b.sums", columnLineage=masking)],
        ),
        run_event(
            "COMPLETE",
            run=6,
            job="masks",
            at="2026-03-01T12:00:00Z",
            writes=[dataset("shop.b.sums", columnLineage=columns(email=[("shop.a.orders", "mail")]))],
        ),
        run_event(
            "COMPLETE",
            run=7,
            at="2026-03-01T13:00:00Z",
            reads=[dataset("/lake/a/orders/day=1", "hdfs://nn:8020", symlinks=linked)],
            writes=[dataset("shop.b.new", lifecycleStateChange=renamed)],
        ),
        run_event("COMPLETE", run=8, at="2026-03-01T14:00:00Z", reads=["shop.a.old"], writes=["shop.c.x"]),
        run_event(
            "COMPLETE", run=9, at="2026-03-01T14:30:00Z", writes=["shop.c.y"],
            reads=[dataset("a.orders", "hive://meta"), dataset("/lake/a/orders", "hdfs://nn")],
        ),
        run_event(
            "COMPLETE", run=1, job="another", at="2026-03-01T10:30:00Z", reads=["shop.c.x"], writes=["shop.c.z"]
        ),
        {
            "eventTime": "2026-03-04T10:00:00Z", "producer": PRODUCER, "schemaURL": SPEC,
            "dataset": dataset("shop.c.y", documentation={"description": "first"},
                               lineage={"inputs": [{"type": "DATASET", "namespace": PG, "name": "shop.c.z"}]}),
        },
        {
            "eventTime": "2026-03-04T10:00:00Z", "producer": PRODUCER, "schemaURL": SPEC,
            "dataset": dataset("shop.c.y", documentation={"description": "second"}),
        },
        {
            "eventTime": "2026-03-04T11:00:00Z", "producer": PRODUCER, "schemaURL": SPEC,
            "job": {"namespace": "jobs", "name": "static", "facets": {"documentation": facet(description="d")}},
            "inputs": [dataset("shop.c.z")], "outputs": [dataset("shop.c.end")],
        },
    ]  # fmt: skip


def told(row: Any) -> str:
    return json.dumps(row.facets, sort_keys=True)


def picture() -> dict[str, Any]:
    """All of the graph's tables by names, without their ids."""
    nodes = {
        pk: tuple(
            sorted(NodeName.objects.filter(node_id=pk).values_list("namespace", "name", "matched", "why"))
        )
        for pk in Node.objects.values_list("pk", flat=True)
    }
    column = {row.pk: (nodes[row.node_id], row.path) for row in NodeColumn.objects.all()}
    jobs = {row.pk: row.name for row in Job.objects.all()}
    runs = {row.pk: (str(row.run_id), jobs[row.job_id]) for row in Run.objects.all()}
    span = ("origin", "first_seen", "last_seen", "ended_at")
    return {
        "nodes": sorted(
            (nodes[row.pk], row.namespace, row.name, told(row), row.first_seen, row.last_seen, str(row.ended_at))
            for row in Node.objects.all()
        ),
        "jobs": sorted(
            (row.name, row.description, told(row), row.first_seen, row.last_seen)
            for row in Job.objects.all()
        ),
        "runs": sorted(
            (runs[row.pk], row.state, str(row.state_at), str(row.started_at), str(row.ended_at), str(row.first_seen),
             str(row.last_seen), told(row))
            for row in Run.objects.all()
        ),
        "uses": sorted(
            (runs[row.run_id], nodes[row.node_id], row.role, row.first_seen, row.last_seen, told(row))
            for row in RunDataset.objects.all()
        ),
        "job datasets": sorted(
            (jobs[row.job_id], nodes[row.node_id], row.role, row.first_seen, row.last_seen)
            for row in JobDataset.objects.all()
        ),
        "edges": sorted(
            (nodes[row.source_id], nodes[row.target_id], jobs[row.job_id], *(str(getattr(row, key)) for key in span))
            for row in Edge.objects.all()
        ),
        "columns": sorted(column.values()),
        "column edges": sorted(
            (column[row.source_id], column[row.target_id], jobs[row.job_id], row.transformation, row.masking,
             *(str(getattr(row, key)) for key in span))
            for row in ColumnEdge.objects.all()
        ),
        "events": sorted(LineageEvent.objects.values_list("digest", "state", "error")),
    }  # fmt: skip


def drawn(batches: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """The picture after these batches; the database is as before."""
    found: dict[str, Any] = {}
    try:
        with transaction.atomic():
            for batch in batches:
                assert {receipt.status for receipt in send(*batch)} <= {"stored", "duplicate"}
            found = picture()
            raise UndoneError
    except UndoneError:
        return found


def shuffled(events: list[dict[str, Any]], chance: random.Random) -> list[list[dict[str, Any]]]:
    """All events in some order, some of them again, in batches of some sizes."""
    listed = events + [event for event in events if chance.random() < 0.3]
    chance.shuffle(listed)
    batches: list[list[dict[str, Any]]] = []
    while listed:
        size = chance.choice([1, 1, 2, 5, 50])
        batches.append(listed[:size])
        listed = listed[size:]
    return batches


def check(orders: int, seed: int) -> None:
    events = story()
    expected = drawn([events])
    assert len(expected["edges"]) > 10
    assert [edge[3:5] for edge in expected["column edges"]] == [("DIRECT/TRANSFORMATION", False)]
    assert {state for _, state, _ in expected["events"]} == {"merged"}
    chance = random.Random(seed)
    for number in range(orders):
        batches = shuffled(events, chance)
        found = drawn(batches)
        for table, rows in expected.items():
            assert found[table] == rows, (number, table)


def test_random_orders_and_repetitions_give_the_same_graph(db):
    check(40, seed=1)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_ten_thousand_random_orders_and_repetitions_give_the_same_graph(db, part: int):
    """In twenty parts, which processes share: an order takes some tenths of a second, all of them most of an hour."""
    check(500, seed=100 + part)
