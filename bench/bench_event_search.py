"""Searching many metadata events over HTTP, and the answers while retention deletes the oldest tenth of them.

    PYTHONPATH=. python bench/bench_event_search.py [--events 1000000] [--rounds 20] [--no-retention] [--filled]

AIDE_BENCH_EVENTS changes the size; AIDE_DATABASE_URL may name an empty PostgreSQL database. Goals at 10,000,000: each
selective filter, and any filter with a time range, below 100 ms (p95); retention raises the p95 of answers by less
than a tenth. Which plans answer is asserted by tests/scale/test_event_plans.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from urllib.parse import urlencode

from own_database import own_database
from serving import Asker, p95, served, spread

DAYS = 400
KEPT = 360
LONGEST = 600
FILL = """
INSERT INTO lineage_event (event_id, resource, subject, action, happened_at, additional_values, received_at)
SELECT 'e' || i, 'customer_pipeline_' || i %% ({count} / 20) || '_stage', 'etl-pipeline-' || i %% 200,
    CASE WHEN i %% 100000 = 7 THEN 'RARE' ELSE 'ACTION_' || i %% 5 END, at,
    jsonb_build_object('pipeline_id', 'p' || i / 100, 'stage_number', (i %% 20)::text, 'format', 'parquet',
        'path', 's3://raw/' || i, 'records', (i * 7919 %% 10000000)::text), at + interval '3 s'
FROM generate_series(%s::bigint, %s::bigint) AS i,
    LATERAL (SELECT now() - interval '{days} days' + i * (interval '{days} days' / {count}) AS at) AS told
"""
PIECE = 500_000


def fill(count: int) -> float:
    """By one statement a piece, in the order in which events happen; most indexes are made afterwards."""
    from django.db import connection

    began = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE lineage_event")
        cursor.execute(
            "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE indrelid = 'lineage_event'::regclass AND NOT indisunique"
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        for start in range(1, count + 1, PIECE):
            cursor.execute(FILL.format(count=count, days=DAYS), [start, min(start + PIECE - 1, count)])
        cursor.execute("SET maintenance_work_mem = '1GB'")
        for _, definition in indexes:
            cursor.execute(definition)
        cursor.execute("VACUUM ANALYZE lineage_event")
    return time.perf_counter() - began


def searches(count: int) -> dict[str, Callable[[random.Random], dict[str, str]]]:
    """Queries by name, each time with other values."""

    def day(chance: random.Random, hours: int = 24) -> dict[str, str]:
        at = time.time() - chance.uniform(2, KEPT - 2) * 86_400
        return {"from": _iso(at), "to": _iso(at + hours * 3600)}

    def resource(chance: random.Random) -> str:
        return f"customer_pipeline_{chance.randrange(count // 20)}_stage"

    return {
        "resource": lambda c: {"resource": resource(c)},
        "several resources": lambda c: {"resource__in": ",".join(resource(c) for _ in range(5))},
        "resource that is not there": lambda c: {"resource": f"none{c.random()}"},
        "subject": lambda c: {"subject": f"etl-pipeline-{c.randrange(200)}"},
        "action": lambda c: {"action": f"ACTION_{c.randrange(5)}"},
        "rare action": lambda _: {"action": "RARE"},
        "event id": lambda c: {"event_id": f"e{c.randrange(count // 5, count)}"},
        "timestamp": lambda c: {"timestamp__gte": _iso(at := time.time() - c.uniform(2, 300) * 86_400),
                                "timestamp__lte": _iso(at + 60)},
        "received at": lambda c: {"received_at__gte": _iso(at := time.time() - c.uniform(2, 300) * 86_400),
                                  "received_at__lte": _iso(at + 60)},
        "value of one": lambda c: {"additionalValues.path": f"s3://raw/{c.randrange(count // 5, count)}"},
        "value of a hundred": lambda c: {"additionalValues.pipeline_id": f"p{c.randrange(count // 100)}"},
        "value that is not there": lambda c: {"additionalValues.path": f"none{c.random()}"},
        "resource and common value": lambda c: {"resource": resource(c), "additionalValues.format": "parquet"},
        "subject and action": lambda c: {"subject": "etl-pipeline-7", "action": f"ACTION_{c.randrange(5)}"},
        "a day": day,
        "a day, resource": lambda c: {**day(c), "resource": resource(c)},
        "a day, subject": lambda c: {**day(c), "subject": f"etl-pipeline-{c.randrange(200)}"},
        "a day, action": lambda c: {**day(c), "action": f"ACTION_{c.randrange(5)}"},
        "a day, rare action": lambda c: {**day(c), "action": "RARE"},
        "a day, value of one": lambda c: {**day(c), "additionalValues.path": f"s3://raw/{c.randrange(count)}"},
        "a day, common value": lambda c: {**day(c), "additionalValues.stage_number": str(c.randrange(20))},
        "a day, part of a resource": lambda c: {**day(c), "resource__like": f"pipeline_{c.randrange(100)}7"},
        "a day, part of a value": lambda c: {**day(c), "additionalValues.path__like": f"raw/{c.randrange(100)}7"},
        "a month, subject": lambda c: {**day(c, 720), "subject": f"etl-pipeline-{c.randrange(200)}"},
        "a month, common value": lambda c: {**day(c, 720), "additionalValues.stage_number": str(c.randrange(20))},
        "a month, value of a hundred": lambda c: {
            **day(c, 720), "additionalValues.pipeline_id": f"p{c.randrange(count // 100)}"
        },
    }  # fmt: skip


def _iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def measure_searches(asker: Asker, count: int, rounds: int) -> None:
    chance = random.Random(7)
    for name, made in searches(count).items():
        by_page, by_cursor = [], []
        for _ in range(rounds):
            query = urlencode(made(chance))
            by_page.append(asker.get(f"/api/v1/metadata?{query}")[0])
            by_cursor.append(asker.get(f"/api/v1/metadata?{query}&cursor=")[0])
        late = "  LATE" if max(p95(by_page), p95(by_cursor)) > 0.1 else ""
        print(f"{name:<28} pages: {spread(by_page)}   cursor: {spread(by_cursor)}{late}", flush=True)
    low = [asker.get("/api/v1/users/me")[0] for _ in range(100)]
    print(f"{'floor, /users/me':<28} {spread(low)}")


def measure_retention(asker: Asker, count: int) -> None:
    """Turns with and without a pruning, each of some seconds, until the oldest tenth is gone."""
    chance = random.Random(9)
    quiet: list[float] = []
    pruning: list[float] = []
    ratios = []
    prune = (
        "import django; django.setup(); from lineage import retention; print('ready', flush=True); "
        "print(retention.prune(seconds={seconds})['events'])"
    )
    seconds, deleted, began = 15.0, 0, time.perf_counter()
    environment = {**os.environ, "AIDE_EVENT_RETENTION_DAYS": str(KEPT)}
    while True:
        before = _asked(asker, count, chance, seconds)
        process = subprocess.Popen(
            [sys.executable, "-c", prune.format(seconds=seconds)], env=environment, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()  # its start is not what is measured
        during = _asked(asker, count, chance, seconds)
        told = process.communicate()[0]
        if process.returncode:
            raise SystemExit("The pruning failed.")
        deleted += int(told.split()[-1])
        if deleted == 0:
            break
        quiet += before
        pruning += during
        ratios.append(p95(during) / p95(before))
        if deleted >= count * (DAYS - KEPT) // DAYS - 1:
            break
        if time.perf_counter() - began > LONGEST:
            print(f"stopped after {LONGEST} s")
            break
    print(
        f"retention deleted {deleted} events in {time.perf_counter() - began:.0f} s (half of it waiting); answers "
        f"without: {spread(quiet)}, with: {spread(pruning)}; p95 with / without "
        f"{p95(pruning) / p95(quiet):.2f}, median of turns {statistics.median(ratios):.2f}"
    )


def _asked(asker: Asker, count: int, chance: random.Random, seconds: float) -> list[float]:
    """A search and an event in turn, twenty a second, as long as that."""
    spent = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        name = f"customer_pipeline_{chance.randrange(count // 20)}_stage"
        spent.append(asker.get(f"/api/v1/metadata?resource={name}")[0])
        time.sleep(0.05)
        body = {"resource": name, "subject": "bench", "action": "READ", "additionalValues": {"format": "csv"}}
        spent.append(asker.post("/api/v1/metadata", json.dumps(body).encode())[0])
        time.sleep(0.05)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=int(os.environ.get("AIDE_BENCH_EVENTS", "1000000")))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--no-retention", action="store_true")
    parser.add_argument("--filled", action="store_true", help="search what an earlier run has left")
    asked = parser.parse_args()
    with own_database():
        if not asked.filled:
            print(f"{asked.events} events written in {fill(asked.events):.0f} s", flush=True)
        with served("registry:read", "lineage:write") as asker:
            measure_searches(asker, asked.events, asked.rounds)
            if not asked.no_retention:
                measure_retention(asker, asked.events)


if __name__ == "__main__":
    main()
