"""OpenLineage events received and merged, in batches and one by one, against a bare INSERT of the same run.

    PYTHONPATH=. python bench/bench_openlineage.py [--events 3000]

AIDE_DATABASE_URL may name an empty database. No HTTP: what is measured is reading, masking, storing, the outbox and
the graph. The floor stores the same texts with one INSERT a batch and nothing else. Goals over HTTP with two workers:
1,500 events a second in batches of 100, 150 one by one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import random
import time
import uuid
from collections.abc import Sequence
from typing import Any

from own_database import own_database

BATCH = 100


def events(count: int, seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    began = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)

    def dataset() -> dict[str, Any]:
        fields = [{"name": f"c{number}", "type": "VARCHAR"} for number in range(12)]
        schema = {
            "_producer": "https://example.com/p",
            "_schemaURL": "https://example.com/s",
            "fields": fields,
        }
        name = f"shop.public.t{chance.randrange(5000)}"
        return {"namespace": "postgres://db1:5432", "name": name, "facets": {"schema": schema}}

    return [
        {
            "eventType": chance.choice(["START", "COMPLETE"]),
            "eventTime": (began + dt.timedelta(seconds=number)).isoformat(),
            "run": {"runId": str(uuid.UUID(int=chance.getrandbits(128)))},
            "job": {"namespace": "jobs", "name": f"j{chance.randrange(500)}.t{chance.randrange(20)}"},
            "producer": "https://example.com/p",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "inputs": [dataset(), dataset()],
            "outputs": [dataset()],
        }
        for number in range(count)
    ]


def floor(texts: Sequence[str]) -> float:
    """Seconds for the bare texts, a transaction a batch."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS bench_text (id serial PRIMARY KEY, body text)")
        began = time.perf_counter()
        for start in range(0, len(texts), BATCH):
            some = texts[start : start + BATCH]
            marks = ", ".join(["(%s)"] * len(some))
            with transaction.atomic():
                cursor.execute(f"INSERT INTO bench_text (body) VALUES {marks}", list(some))
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=3_000)
    asked = parser.parse_args()
    with own_database():
        measure(asked)


def measure(asked: argparse.Namespace) -> None:
    from lineage.merging import Incoming, receive

    def received(size: int, seed: int, count: int) -> tuple[float, float]:
        """(seconds, seconds of our own processor) for so many events."""
        items = [Incoming(event, json.dumps(event)) for event in events(count, seed)]
        began, worked = time.perf_counter(), time.process_time()
        for start in range(0, len(items), size):
            receive(items[start : start + size])
        return time.perf_counter() - began, time.process_time() - worked

    received(BATCH, 1, 2_000)  # the names are known then, as they are in daily work
    bare = floor([json.dumps(event) for event in events(asked.events, 2)]) / asked.events
    for words, size, count in (
        ("batches of 100", BATCH, asked.events),
        ("one by one", 1, asked.events // 10),
    ):
        spent, worked = received(size, size + 10, count)
        print(
            f"{words:>14}: {count / spent:,.0f} events/s, {worked / count * 1e6:,.0f} us of processor an event, "
            f"{spent / count / bare:.1f} x the bare INSERT"
        )


if __name__ == "__main__":
    main()
