"""A client that sends events over kept connections, as a process of its own so that its work is not the server's.

    python bench/event_sending.py URL BATCH EVENTS CONNECTIONS [AUTHORIZATION [SEED]]

Addresses of lineage get OpenLineage events, others metadata events. Another seed makes other events.
Prints {"per_second", "p50", "p99", "errors"}; times in milliseconds. Bodies are made before the clock starts.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import sys
import threading
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

MOST_BODIES = 1500


def event(chance: random.Random, number: int) -> dict[str, Any]:
    """About 310 bytes, as pipelines send them."""
    return {
        "resource": f"customer_pipeline_{chance.randrange(5000)}_stage_{chance.randrange(20)}",
        "subject": f"etl-pipeline-{chance.randrange(200):03d}",
        "action": chance.choice(["DATA_INGESTED", "DATA_TRANSFORMED", "DATA_WRITTEN", "MODEL_TRAINED"]),
        "timestamp": 1.7e9 + number + chance.random(),
        "additionalValues": {
            "pipeline_id": f"p{chance.randrange(500)}",
            "stage_number": str(chance.randrange(20)),
            "records_processed": str(chance.randrange(10**7)),
            "data_format": "parquet",
            "source_path": f"s3://raw-data/{chance.randrange(10**6)}.parquet",
        },
    }


def run_event(chance: random.Random, number: int) -> dict[str, Any]:
    """About 1.8 KB: a run that reads two tables of twelve columns and writes one."""

    def dataset() -> dict[str, Any]:
        fields = [{"name": f"c{place}", "type": "VARCHAR"} for place in range(12)]
        schema = {
            "_producer": "https://example.com/p",
            "_schemaURL": "https://example.com/s",
            "fields": fields,
        }
        name = f"shop.public.t{chance.randrange(5000)}"
        return {"namespace": "postgres://db1:5432", "name": name, "facets": {"schema": schema}}

    return {
        "eventType": chance.choice(["START", "COMPLETE"]),
        "eventTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1.77e9 + number)),
        "run": {"runId": str(uuid.UUID(int=chance.getrandbits(128)))},
        "job": {"namespace": "jobs", "name": f"j{chance.randrange(500)}.t{chance.randrange(20)}"},
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "inputs": [dataset(), dataset()],
        "outputs": [dataset()],
    }


def main() -> None:
    url, batch, count, connections = urlsplit(sys.argv[1]), *map(int, sys.argv[2:5])
    headers = {"Content-Type": "application/json"}
    if len(sys.argv) > 5:
        headers["Authorization"] = sys.argv[5]
    chance = random.Random(int(sys.argv[6]) if len(sys.argv) > 6 else 1)
    make = run_event if "/lineage" in url.path else event
    requests = max(connections, count // batch)
    bodies = []
    for number in range(min(requests, MOST_BODIES)):
        events = [make(chance, number * batch + place) for place in range(batch)]
        bodies.append(json.dumps(events[0] if batch == 1 else events).encode())
    numbers, lock = itertools.count(), threading.Lock()
    taken: list[float] = []
    wrong: list[int] = []

    def work() -> None:
        server = http.client.HTTPConnection(url.hostname or "", url.port)
        while True:
            with lock:
                number = next(numbers)
            if number >= requests:
                return
            began = time.perf_counter()
            try:
                server.request("POST", url.path, bodies[number % len(bodies)], headers)
                answer = server.getresponse()
                answer.read()
                status = answer.status
            except (OSError, http.client.HTTPException):
                server.close()
                status = 599
            spent = time.perf_counter() - began
            with lock:
                taken.append(spent)
                if status >= 300:
                    wrong.append(status)

    threads = [threading.Thread(target=work) for _ in range(connections)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = time.perf_counter() - began
    taken.sort()
    place = [taken[min(len(taken) - 1, int(len(taken) * part))] * 1000 for part in (0.5, 0.99)]
    print(
        json.dumps(
            {
                "per_second": requests * batch / whole,
                "p50": place[0],
                "p99": place[1],
                "errors": wrong[:3],
            }
        )
    )


if __name__ == "__main__":
    main()
