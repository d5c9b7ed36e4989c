"""The graph read against a search in memory: any depth, either way, cut or whole, now or as of a moment."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from lineage import graph
from lineage.models import ColumnEdge, Edge, Job, Node, NodeColumn

pytestmark = pytest.mark.django_db
AT = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
NODES = 60
Pairs = set[tuple[int, int]]


@pytest.fixture(params=[graph.DATASET, graph.COLUMN])
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def drawn(level: str, pairs: Pairs, **values: Any) -> list[int]:
    """Edges between nodes, or between their only columns; the ids by number."""
    job, _ = Job.objects.get_or_create(
        key="k", defaults={"namespace": "jobs", "name": "nightly", "first_seen": AT, "last_seen": AT}
    )
    if not Node.objects.exists():
        nodes = [Node(namespace="n", name=f"t{i}", first_seen=AT, last_seen=AT) for i in range(NODES)]
        Node.objects.bulk_create(nodes)
        NodeColumn.objects.bulk_create(NodeColumn(node=node, key="k", path="c") for node in nodes)
    model = {graph.DATASET: Node, graph.COLUMN: NodeColumn}[level]
    ids = list(model._base_manager.order_by("pk").values_list("pk", flat=True))
    edge: Any = {graph.DATASET: Edge, graph.COLUMN: ColumnEdge}[level]
    span = {"first_seen": AT, "last_seen": AT, **values}
    edge.objects.bulk_create(
        edge(source_id=ids[s], target_id=ids[t], job=job, **span) for s, t in sorted(pairs)
    )
    return ids


def tangle(seed: int) -> Pairs:
    """A few hubs, cycles, and nodes that lead nowhere."""
    chance = random.Random(seed)
    pairs = {(chance.randrange(NODES), chance.randrange(NODES)) for _ in range(90)}
    pairs |= {(7, chance.randrange(NODES)) for _ in range(25)} | {(3, 4), (4, 5), (5, 3)}
    return {(source, target) for source, target in pairs if source != target}


def searched(
    pairs: Pairs, start: int, *, way: str, depth: int, most: int = 10**9
) -> tuple[dict[int, int], bool]:
    """Depths by breadth-first search, each level in the order of its ids; whether there is more."""
    after = defaultdict(list)
    for source, target in sorted(pairs, key=lambda pair: pair if way == "down" else pair[::-1]):
        after[source if way == "down" else target].append(target if way == "down" else source)
    depths, frontier = {start: 0}, [start]
    for distance in range(1, depth + 1):
        found = []
        for near in sorted(frontier):
            for far in after[near]:
                if far not in depths:
                    if len(depths) == most:
                        return depths, True
                    depths[far] = distance
                    found.append(far)
        frontier = found
    return depths, False


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_is_that_of_a_search_in_memory(level: str, seed: int) -> None:
    pairs = tangle(seed)
    ids = drawn(level, pairs)
    numbers = {pk: number for number, pk in enumerate(ids)}
    for start in (7, 3, seed):
        for way in ("down", "up"):
            for depth in (1, 2, 5, 100):
                truth, _ = searched(pairs, start, way=way, depth=depth)
                found = graph.picture([ids[start]], level=level, direction=way, depth=depth)  # type: ignore[arg-type]
                assert {numbers[pk]: distance for pk, distance in found.depths.items()} == truth
                walked = {
                    (source, target)
                    for source, target in pairs
                    for near, far in [(source, target) if way == "down" else (target, source)]
                    if truth.get(near, depth) < depth and far in truth
                }
                assert {(numbers[row.source], numbers[row.target]) for row in found.edges} == walked
                assert not found.truncated
            whole = graph.everything([ids[start]], level=level, direction=way)  # type: ignore[arg-type]
            assert {numbers[pk] for pk in whole} == set(searched(pairs, start, way=way, depth=NODES)[0])


@pytest.mark.parametrize("most", [1, 2, 5, 17, 40])
def test_what_is_cut_is_the_beginning_of_the_search_and_hangs_together(level: str, most: int) -> None:
    pairs = tangle(1)
    ids = drawn(level, pairs)
    numbers = {pk: number for number, pk in enumerate(ids)}
    for start in range(0, NODES, 7):
        truth, more = searched(pairs, start, way="down", depth=4, most=most)
        found = graph.picture([ids[start]], level=level, direction="down", depth=4, most=most)
        assert {numbers[pk]: distance for pk, distance in found.depths.items()} == truth
        assert found.truncated == more
        assert {row.target for row in found.edges} >= set(found.depths) - {ids[start]}
        both = graph.picture([ids[start]], level=level, depth=4, most=most)
        assert len(both.depths) <= most
        ends = {pk for row in both.edges for pk in (row.source, row.target)}
        assert set(both.depths) - {ids[start]} <= ends <= set(both.depths)


def test_a_tangle_with_more_edges_than_may_be_looked_at_is_cut_and_says_so(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = drawn(level, {(s, t) for s in range(NODES) for t in range(NODES) if s != t})
    monkeypatch.setattr(graph, "LOOKED_AT_EACH", 2)
    monkeypatch.setattr(graph, "EDGES_EACH", 1)
    found = graph.picture([ids[0]], level=level, direction="down", depth=5, most=NODES)
    assert found.truncated
    assert len(found.depths) == NODES
    assert len(found.edges) == NODES
    assert {row.target for row in found.edges} >= set(ids[1:])


def test_the_past_is_walked_as_the_present_is(level: str) -> None:
    day = dt.timedelta(days=1)
    ids = drawn(level, {(0, 1)})
    drawn(level, {(1, 2)}, first_seen=AT + day, last_seen=AT + 2 * day, ended_at=AT + 3 * day)

    def reached(as_of: dt.datetime | None) -> tuple[int, int]:
        found = graph.picture([ids[0]], level=level, as_of=as_of)
        return len(found.depths), len(found.edges)

    assert [reached(AT + n * day) for n in (-1, 0, 1, 2, 3)] == [(1, 0), (2, 1), (3, 2), (3, 2), (2, 1)]
    assert reached(None) == (2, 1)
    row = next(row for row in graph.picture([ids[1]], level=level, as_of=AT + day).edges if row.ended_at)
    assert (row.first_seen, row.last_seen, row.ended_at) == (AT + day, AT + 2 * day, AT + 3 * day)
    assert (row.job, row.job_namespace, row.origin, row.masking) == ("nightly", "jobs", "event", False)


def test_the_number_of_statements_depends_on_the_depth_alone(level: str) -> None:
    ids = drawn(level, {(0, t) for t in range(1, NODES)} | {(s, s + 1) for s in range(1, NODES - 1)})
    counts = set()
    for most in (3, 30, 2_000):
        with CaptureQueriesContext(
            connection,
        ) as found:
            graph.picture([ids[0]], level=level, direction="down", depth=2, most=most)
        counts.add(len(found))
    assert counts <= {3, 4}, counts
