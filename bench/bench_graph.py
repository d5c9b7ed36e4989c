"""The lineage graphs of datasets and of columns with hubs and cycles: ratios against the floor of the same run.

    PYTHONPATH=. python bench/bench_graph.py [--edges 300000] [--rounds 3]

AIDE_BENCH_EDGES changes the size; AIDE_DATABASE_URL may name an empty PostgreSQL database. The floor is a table of
bare pairs, read level by level. Every answer, whole or cut, is compared with a search in memory. Goals at 1,000,000:
depth 3 at most twice the floor, without limit at most 1.5 times, the answer over HTTP of 5 hops below 60 ms (p95).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections import defaultdict

from own_database import own_database
from serving import served, spread

LAYERS = 40
AT = "2026-03-01T10:00:00Z"
FILL = """
SET session_replication_role = replica;
TRUNCATE lineage_edge, lineage_columnedge, lineage_nodecolumn, lineage_node, lineage_job CASCADE;
INSERT INTO lineage_job (id, key, namespace, name, description, facets, first_seen, last_seen)
    SELECT i, 'k' || i, 'jobs', 'nightly.' || i, '', '{{}}', '{at}', '{at}' FROM generate_series(1, 2000) i;
INSERT INTO lineage_node (id, namespace, name, facets, first_seen, last_seen)
    SELECT i, 'postgres://db1:5432', 'shop.public.t' || i, '{{}}', '{at}', '{at}' FROM generate_series(1, {nodes}) i;
INSERT INTO lineage_nodename (key, canonical, namespace, name, node_id, matched, why, created_at)
    SELECT encode(sha256(convert_to(namespace, 'UTF8') || '\\x00' || convert_to(name, 'UTF8')), 'hex'), '', namespace,
        name, id, 'unresolved', '', '{at}' FROM lineage_node;
INSERT INTO lineage_nodecolumn (id, node_id, key, path)
    SELECT id, id, encode(sha256('id'), 'hex'), 'id' FROM lineage_node;
INSERT INTO lineage_edge (source_id, target_id, job_id, origin, reason, first_seen, last_seen)
    SELECT source, target, 1 + source % 2000, 'event', '', '{at}', '{at}'::timestamptz + source * interval '1 s'
    FROM bench_pair;
INSERT INTO lineage_columnedge
        (source_id, target_id, job_id, origin, reason, first_seen, last_seen, transformation, masking)
    SELECT source_id, target_id, job_id, origin, reason, first_seen, last_seen, 'DIRECT/IDENTITY', false
    FROM lineage_edge;
SET session_replication_role = DEFAULT;
"""
TABLES = ("edge", "columnedge", "node", "nodename", "nodecolumn", "job")
Pairs = list[tuple[int, int]]
Ends = dict[int, list[int]]


def made(count: int, seed: int) -> tuple[Pairs, int]:
    """(edges without repetition, number of nodes): layers, popular targets, hubs, edges that lead back, cycles."""
    chance = random.Random(seed)
    nodes = max(count * 10 // 22, 200)
    size = nodes // LAYERS
    edges: set[tuple[int, int]] = set()
    while len(edges) < count * 93 // 100:
        layer = int(chance.random() * (LAYERS - 1))
        source = layer * size + int(chance.random() * size)
        place = chance.random()
        edges.add((source + 1, (layer + 1) * size + int(size * (place**4 if place < 0.25 else place)) + 1))
    for _ in range(max(8, count // 50_000)):
        hub = int(chance.random() * 8 * size)
        for _ in range(min(3_000, count // 50)):
            edges.add((hub + 1, min(hub + size + int(chance.random() * 3 * size), nodes - 1) + 1))
    back = chance.sample(sorted(edges), count // 500)
    edges.update((target, source) for source, target in back)
    return sorted((source, target) for source, target in edges if source != target), nodes


def fill(edges: Pairs, nodes: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_pair")
        cursor.execute("CREATE TABLE bench_pair (source bigint, target bigint)")
        with cursor.cursor.copy("COPY bench_pair FROM STDIN") as copy:
            copy.write("".join(f"{source}\t{target}\n" for source, target in edges))
        cursor.execute("CREATE UNIQUE INDEX ON bench_pair (source, target)")
        cursor.execute("CREATE INDEX ON bench_pair (target, source)")
        cursor.execute(FILL.format(at=AT, nodes=nodes))
        for table in ("bench_pair", *(f"lineage_{name}" for name in TABLES)):
            cursor.execute(f"VACUUM ANALYZE {table}")


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


def searched(after: Ends, start: int, depth: int, most: int = 10**9) -> tuple[dict[int, int], bool]:
    """Breadth-first search in memory, each level in the order of its ids: depths, and whether there is more."""
    depths, frontier, distance = {start: 0}, [start], 0
    while frontier and (depth == 0 or distance < depth):
        distance += 1
        found = []
        for near in sorted(frontier):
            for far in after.get(near, ()):
                if far not in depths:
                    if len(depths) == most:
                        return depths, True
                    depths[far] = distance
                    found.append(far)
        frontier = found
    return depths, False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=int(os.environ.get("AIDE_BENCH_EDGES", "300000")))
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with own_database():
        from django.conf import settings

        settings.DEBUG = False  # which notes every statement
        edges, nodes = made(asked.edges, seed=5)
        fill(edges, nodes)
        down, up = defaultdict(list), defaultdict(list)
        for source, target in edges:
            down[source].append(target)
            up[target].append(source)
        hub = max(down, key=lambda pk: len(down[pk]))
        popular = max(up, key=lambda pk: len(up[pk]))
        print(f"{len(edges)} edges, {nodes} nodes; {len(down[hub])} from a hub, {len(up[popular])} to one")
        chance = random.Random(3)
        size = nodes // LAYERS
        starts = {
            "hub": [hub, popular],
            "beside a hub": chance.sample(down[hub], 4),
            "first layer": chance.sample([pk for pk in down if pk < size], 6),
            "middle": chance.sample([pk for pk in down if 15 * size < pk < 25 * size], 6),
        }
        walked(asked.rounds, dict(down), starts)
        compared(dict(down), dict(up), starts)
        answered(asked.rounds, starts)


def walked(rounds: int, after: Ends, starts: dict[str, list[int]]) -> None:
    """Reaching, by depth, against the floor."""
    from lineage import graph

    for level in (graph.DATASET, graph.COLUMN):
        for depth in (1, 3, 5, 0):
            ratios, wrong = [], 0
            plain = starts["first layer"] + starts["middle"]
            for start in plain if depth else [plain[0], plain[6], starts["hub"][0]]:
                truth = set(searched(after, start, depth)[0])
                ours, bare = [], []
                for _ in range(rounds if not depth else rounds * 5):
                    began = time.perf_counter()
                    low = floor(start, depth)
                    between = time.perf_counter()
                    if depth:
                        found = set(graph.walk([start], level=level, depth=depth).depths)
                    else:
                        found = graph.everything([start], level=level)
                    ours.append(time.perf_counter() - between)
                    bare.append(between - began)
                    wrong += (found != truth) + (low != truth)
                ratios.append(min(ours) / min(bare))  # what else runs here only ever adds
            words = f"{level}s, {f'depth {depth}' if depth else 'without limit'}"
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(f"{words:<26} {statistics.median(ratios):5.2f} x floor ({spread}), {wrong} wrong")


def compared(down: Ends, up: Ends, starts: dict[str, list[int]]) -> None:
    """Whole pictures, cut or not, against the search in memory: nodes, depths, edges, and what they say of more."""
    from lineage import graph

    count = wrong = cut = 0
    for level in (graph.DATASET, graph.COLUMN):
        for start in [pk for listed in starts.values() for pk in listed]:
            for way, after in (("down", down), ("up", up)):
                for depth, most in ((1, 1_000), (3, 1_000), (5, 1_000), (5, 10_000), (100, 200)):
                    truth, more = searched(after, start, depth, most)
                    found = graph.picture([start], level=level, direction=way, depth=depth, most=most)  # type: ignore[arg-type]
                    pairs = {
                        (near, far) for near in truth if truth[near] < depth for far in after.get(near, ())
                    }
                    between = {pair for pair in pairs if pair[1] in truth}
                    told = {
                        (e.source, e.target) if way == "down" else (e.target, e.source) for e in found.edges
                    }
                    same = told == between if not more else told <= between
                    count += 1
                    cut += more
                    wrong += not (dict(found.depths) == truth and found.truncated == more and same)
    print(f"{count} pictures ({cut} cut) compared with a search in memory: {wrong} wrong")


def answered(rounds: int, starts: dict[str, list[int]]) -> None:
    """`GET /lineage/graph` of 5 hops both ways, over HTTP with a log-in, as it is served in production."""
    with served("registry:read") as asker:
        for level in ("dataset", "column"):
            every: list[float] = []
            for name, listed in starts.items():
                spent = []
                for start in listed * rounds * 3:
                    place = f"namespace=postgres://db1:5432&name=shop.public.t{start}"
                    taken, body = asker.get(f"/api/v1/lineage/graph?{place}&depth=5&level={level}")
                    spent.append(taken)
                every += spent
                told = json.loads(body)
                size = f"{len(told['nodes'])} nodes, {len(told['edges'])} edges, {len(body) // 1000} kB"
                print(f"HTTP, {level}s, {name:<13} {spread(spent)}   (last: {size})")
            low = [asker.get("/api/v1/users/me")[0] for _ in range(100)]
            print(f"HTTP, {level}s, all           {spread(every)}   floor, /users/me: {spread(low)}")


if __name__ == "__main__":
    main()
