"""Where confirmed tags get to over a million edges of columns, against reading the same edges once.

    PYTHONPATH=. python bench/bench_tag_propagation.py [--edges 1000000] [--columns 300000]

AIDE_DATABASE_URL may name an empty database. The walk alone is pure; with the database it reads level by level.
The floor is one SELECT of all the edges. Goal: one million edges in less than two seconds of processor time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from typing import Any

from own_database import own_database

COLUMNS_A_TABLE = 20


def pairs(edges: int, columns: int, seed: int) -> list[tuple[int, int]]:
    """Edges that lead onward through five layers, as warehouses have them, a few columns read by very many."""
    chance = random.Random(seed)
    layer = columns // 5
    found: set[tuple[int, int]] = set()
    while len(found) < edges:
        level = chance.randrange(4)
        source = level * layer + int(layer * chance.random() ** 3)
        found.add((source + 1, (level + 1) * layer + chance.randrange(layer) + 1))
    return sorted(found)


def fill(listed: list[tuple[int, int]], columns: int) -> None:
    from django.db import transaction
    from django.utils import timezone

    from aide.core import bulk
    from lineage.models import ColumnEdge, Job, Node, NodeColumn

    now = timezone.now()
    with transaction.atomic():
        job = Job.objects.create(key="k", namespace="n", name="j", first_seen=now, last_seen=now)
        nodes = bulk.insert_values(
            Node, ("namespace", "name", "facets", "first_seen", "last_seen"),
            [("n", f"t{n}", {}, now, now) for n in range(columns // COLUMNS_A_TABLE + 1)],
        )  # fmt: skip
        ids = bulk.insert_values(
            NodeColumn, ("node_id", "key", "path"),
            [(nodes[n // COLUMNS_A_TABLE], f"{n}", f"c{n}") for n in range(columns + 1)],
        )  # fmt: skip
        bulk.insert_values(
            ColumnEdge,
            ("source_id", "target_id", "job_id", "first_seen", "last_seen", "transformation", "masking"),
            [
                (ids[source], ids[target], job.pk, now, now, "DIRECT/IDENTITY", False)
                for source, target in listed
            ],
        )


def seeds(tags: int, columns: int) -> dict[int, int]:
    """Each tag on a hundred columns of the first layer."""
    chance = random.Random(7)
    found: dict[int, int] = defaultdict(int)
    for tag in range(tags):
        for _ in range(100):
            found[1 + chance.randrange(columns // 5)] |= 1 << tag
    return dict(found)


def timed(act: Any) -> tuple[float, float, Any]:
    wall, processor = time.perf_counter(), time.process_time()
    answer = act()
    return time.perf_counter() - wall, time.process_time() - processor, answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=300_000)
    parser.add_argument("--tags", type=int, default=17)
    asked = parser.parse_args()
    listed = pairs(asked.edges, asked.columns, 7)
    after: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair in listed:
        after[pair[0]].append(pair)
    with own_database():
        from django.db import connection

        from lineage import tag_propagation
        from lineage.models import NodeColumn
        from lineage.spreading import spread

        fill(listed, asked.columns)
        first = NodeColumn.objects.order_by("pk").values_list("pk", flat=True)[0] - 1
        begin = seeds(asked.tags, asked.columns)

        def floor() -> int:
            with connection.cursor() as cursor:
                cursor.execute("SELECT source_id, target_id FROM lineage_columnedge")
                return len(cursor.fetchall())

        def walk() -> Any:
            return spread(begin, lambda columns: (p for c in columns for p in after.get(c, ())), stops={})

        def read() -> Any:
            shifted = {column + first: marks for column, marks in begin.items()}
            return spread(shifted, tag_propagation.Edges().after, stops={})

        floor()
        wall, base, count = timed(floor)
        print(f"edges                      {count:>12,}")
        print(f"read once (floor)          {wall:>9.2f} s {base:>9.2f} s CPU")
        for name, act in (("walk in memory", walk), ("walk over the database", read)):
            wall, processor, found = timed(act)
            reached, marks = len(found.came), sum(mark.bit_count() for mark in found.marks.values())
            print(
                f"{name:<26} {wall:>9.2f} s {processor:>9.2f} s CPU   {processor / base:>5.1f} x floor   "
                f"{reached:,} columns, {marks:,} tags"
            )


if __name__ == "__main__":
    main()
