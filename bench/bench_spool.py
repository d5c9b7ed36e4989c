"""The SDK's offline spool: how long `put` holds a pipeline up, against one bare commit of the same run.

    python bench/bench_spool.py [--events 2000]

The server cannot be reached, which is the case that matters. The floor is a SQLite transaction with one row, synced
to the disk. Goals: the middle `put` at most 5 times the floor's middle; over 50 ms no more than one in a thousand, or
than bare waits of 20 ms are (a machine that is busy with other things lets everybody wait).
"""

from __future__ import annotations

import argparse
import logging
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from aide_sdk import AideClient, EventSpool

NOBODY = "http://127.0.0.1:9"
EVENT = {
    "resource": "orders",
    "subject": "nightly-load",
    "action": "LOADED",
    "additionalValues": {"rows": "7" * 50},
}


def timed(act: Callable[[int], object], times: int) -> list[float]:
    """Milliseconds of each call."""
    taken = []
    for number in range(times):
        began = time.perf_counter()
        act(number)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def floor(folder: Path, times: int) -> list[float]:
    with closing(sqlite3.connect(folder / "floor.sqlite3", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE waiting (seq INTEGER PRIMARY KEY, body TEXT)")
        return timed(
            lambda _: connection.execute("INSERT INTO waiting (body) VALUES (?)", (str(EVENT),)), times
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2000)
    events: int = parser.parse_args().events
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = floor(folder, events)
        spool = EventSpool(folder / "spool", lambda: AideClient.sync(NOBODY, api_key="none"))
        held = timed(lambda number: spool.put("metadata", {**EVENT, "action": str(number)}), events)
        waiting = spool.close(0.1).waiting
        asleep = timed(lambda _: threading.Event().wait(0.02), events // 10)
    ratio = statistics.median(held) / statistics.median(bare)
    late = sum(each > 50 for each in held)
    allowed = max(events / 1000, 10 * sum(each > 50 for each in asleep))
    print(f"floor: middle {statistics.median(bare):.2f} ms, longest {max(bare):.1f} ms")
    print(f"put:   middle {statistics.median(held):.2f} ms, longest {max(held):.1f} ms, {late} over 50 ms")
    print(f"waits of 20 ms: longest {max(asleep):.1f} ms; so {allowed:.0f} may be late")
    print(f"ratio {ratio:.2f} (goal: at most 5); on disk {waiting} of {events}")
    return 0 if ratio <= 5 and late <= allowed and waiting == events else 1


if __name__ == "__main__":
    sys.exit(main())
