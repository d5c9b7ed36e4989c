"""The lineage graph with a million edges, hubs and cycles: ratios against the floor of the same run.

    PYTHONPATH=. python bench/bench_graph.py [--edges 300000] [--rounds 5]

AIDE_DATABASE_URL may name an empty database. Tables are filled by COPY. The floor is a table of bare pairs, read
level by level. Every answer is compared with a search in memory. Goals: depth 3 at most twice the floor, without
limit at most 1.5 times.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from own_database import own_database

LAYERS = 40


def made(count: int, seed: int) -> tuple[list[tuple[int, int]], int]:
    """(edges without repetition, number of nodes): layers, a few hubs, edges that lead back."""
    chance = random.Random(seed)
    nodes = max(count * 10 // 22, 200)
    size = nodes // LAYERS
    edges: set[tuple[int, int]] = set()
    while len(edges) < count * 93 // 100:
        layer = chance.randrange(LAYERS - 1)
        source = layer * size + chance.randrange(size)
        target = (layer + 1) * size + int(size * (chance.random() ** (4 if chance.random() < 0.25 else 1)))
        edges.add((source, min(target, nodes - 1)))
    for _ in range(max(8, count // 50_000)):
        hub = chance.randrange(8 * size)
        for _ in range(min(3_000, count // 50)):
            edges.add((hub, min(hub + size + chance.randrange(3 * size), nodes - 1)))
    for source, target in chance.sample(sorted(edges), count // 500):
        edges.add((target, source))
    return sorted((source + 1, target + 1) for source, target in edges if source != target), nodes


def fill(edges: list[tuple[int, int]], nodes: int) -> None:
    from django.db import connection

    at = "2026-03-01T10:00:00Z"
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE lineage_edge, lineage_node, lineage_job CASCADE")
        cursor.execute("DROP TABLE IF EXISTS bench_pair")
        cursor.execute("CREATE TABLE bench_pair (source bigint, target bigint)")
        cursor.execute(
            "INSERT INTO lineage_job (id, key, namespace, name, description, facets, first_seen, last_seen) "
            "VALUES (1, 'k', 'jobs', 'nightly', '', '{}', %s, %s)",
            [at, at],
        )
        rows = "COPY lineage_node (id, namespace, name, facets, first_seen, last_seen) FROM STDIN"
        with cursor.cursor.copy(rows) as copy:
            for pk in range(1, nodes + 1):
                copy.write_row((pk, "postgres://db1:5432", f"shop.public.t{pk}", "{}", at, at))
        rows = "COPY lineage_edge (source_id, target_id, job_id, origin, reason, first_seen, last_seen) FROM STDIN"
        with cursor.cursor.copy(rows) as copy:
            for source, target in edges:
                copy.write_row((source, target, 1, "event", "", at, at))
        with cursor.cursor.copy("COPY bench_pair FROM STDIN") as copy:
            for pair in edges:
                copy.write_row(pair)
        cursor.execute("CREATE UNIQUE INDEX ON bench_pair (source, target)")
        cursor.execute("CREATE INDEX ON bench_pair (target, source)")
        cursor.execute("VACUUM ANALYZE lineage_edge")
        cursor.execute("VACUUM ANALYZE bench_pair")
        cursor.execute("VACUUM ANALYZE lineage_node")


def floor(start: int, depth: int) -> set[int]:
    """Bare pairs, one SELECT a level; depth 0 is without limit."""
    from django.db import connection

    seen: set[int] = set()
    frontier, level = [start], 0
    with connection.cursor() as cursor:
        while frontier and (depth == 0 or level < depth):
            level += 1
            cursor.execute("SELECT DISTINCT target FROM bench_pair WHERE source = ANY(%s)", [frontier])
            frontier = [pk for (pk,) in cursor.fetchall() if pk not in seen]
            seen.update(frontier)
    return seen | {start}


def searched(after: dict[int, list[int]], start: int, depth: int) -> set[int]:
    seen, frontier, level = {start}, [start], 0
    while frontier and (depth == 0 or level < depth):
        level += 1
        frontier = [pk for pk in {pk for one in frontier for pk in after.get(one, ())} if pk not in seen]
        seen.update(frontier)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with own_database():
        measure(asked)


def measure(asked: argparse.Namespace) -> None:
    from lineage import asking, graph
    from lineage.models import Node

    edges, nodes = made(asked.edges, seed=5)
    fill(edges, nodes)
    after: dict[int, list[int]] = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
    hub = max(after, key=lambda pk: len(after[pk]))
    chance = random.Random(3)
    plain = [pk for pk in after if len(after[pk]) < 10]
    starts = [*chance.sample([pk for pk in plain if pk < nodes // LAYERS], 3), *chance.sample(plain, 3)]
    print(f"{len(edges)} edges, {nodes} nodes, hub with {len(after[hub])}")

    def ours(start: int, depth: int) -> set[int]:
        return set(graph.walk([start], depth=depth).depths) if depth else graph.everything([start])

    for depth in (1, 3, 5, 0):
        listed = starts if depth else [*starts[:2], hub]
        ratios, wrong = [], 0
        for start in listed:
            truth = searched(after, start, depth)
            times: dict[Callable[..., Any], list[float]] = {floor: [], ours: []}
            for _ in range(asked.rounds):
                for way, spent in times.items():
                    began = time.perf_counter()
                    found = way(start, depth)
                    spent.append(time.perf_counter() - began)
                    wrong += found != truth
            ratios.append(statistics.median(times[ours]) / statistics.median(times[floor]))
        words = f"depth {depth}" if depth else "without limit"
        spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
        print(f"{words:>14}: {statistics.median(ratios):.2f} x floor ({spread}), {wrong} wrong")

    spent = []
    for start in starts * asked.rounds:
        node = Node.objects.get(pk=start)
        began = time.perf_counter()
        asking.around(
            asking.Start(node, None),
            level="dataset",
            path=None,
            direction="down",
            depth=5,
            as_of=None,
            most=2_000,
        )
        spent.append((time.perf_counter() - began) * 1000)
    spent.sort()
    print(
        f"answer of 5 hops: median {statistics.median(spent):.1f} ms, p95 {spent[int(len(spent) * 0.95)]:.1f} ms"
    )


if __name__ == "__main__":
    main()
