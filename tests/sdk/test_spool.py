"""The offline spool against the running server: whatever happens, each event arrives once and in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aide_sdk import AideClient, Bounds, EventSpool, Retries, SpoolFullError, SyncAideClient
from aide_sdk.spool.store import Store

from tests.flows.product import Served
from tests.processes import free_port
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _needs_events(routes: frozenset[str]) -> None:
    if "/api/v1/metadata" not in routes:
        pytest.skip("this server takes no events")


def connect_to(home: str, key: str, *, timeout: float = 20.0) -> SyncAideClient:
    return AideClient.sync(home, api_key=key, timeout=timeout, retries=Retries(attempts=1))


@contextmanager
def spool_in(folder: Path, home: str, key: str, **how: float) -> Iterator[EventSpool]:
    spool = EventSpool(folder, lambda: connect_to(home, key, **how))
    try:
        yield spool
    finally:
        spool.close(0.1)


def nowhere() -> str:
    return f"http://127.0.0.1:{free_port()}"


def stored(client: SyncAideClient, resource: str) -> list[str]:
    """The actions of a resource's events, in the order in which the server stored them."""
    found = list(client.metadata.list(resource=resource))
    return [event.action for event in sorted(found, key=lambda event: event.model_extra["id"])]


def test_events_reach_the_server_in_order(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    with spool_in(tmp_path, served.home, service_key) as spool:
        for number in range(250):
            spool.put("metadata", {"resource": tmp_path.name, "action": str(number), "timestamp": number})
        state = spool.flush(60)
    assert (state.is_empty, state.refused) == (True, 0)
    assert stored(engineer, tmp_path.name) == [str(number) for number in range(250)]


def test_what_was_taken_while_the_server_was_away_arrives_once_it_is_back(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    with spool_in(tmp_path, nowhere(), service_key) as spool:
        for number in range(20):
            spool.put("metadata", {"resource": tmp_path.name, "action": str(number)})
        state = spool.flush(0.3)
        assert (state.in_memory, state.waiting) == (0, 20)
        assert "cannot be reached" in state.trouble
    with spool_in(tmp_path, served.home, service_key) as spool:  # an event more is not needed
        assert spool.flush(60).is_empty
    assert stored(engineer, tmp_path.name) == [str(number) for number in range(20)]


def test_a_pipeline_goes_on_while_the_server_hangs(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    with spool_in(tmp_path, served.home, service_key, timeout=1.0) as spool:
        spool.put("metadata", {"resource": tmp_path.name, "action": "before"})
        assert spool.flush(60).is_empty
        os.killpg(served.running.pid, signal.SIGSTOP)
        try:
            for number in range(20):
                spool.put("metadata", {"resource": tmp_path.name, "action": str(number)})
            state = spool.flush(1.5)
            assert state.waiting == 20
        finally:
            os.killpg(served.running.pid, signal.SIGCONT)
        assert spool.flush(90).is_empty
    assert stored(engineer, tmp_path.name) == ["before", *(str(number) for number in range(20))]


PIPELINE = """
import sys
from aide_sdk import AideClient, Bounds, EventSpool
folder, home, key, resource = sys.argv[1:]
until_on_disk = Bounds(hold=60)
spool = EventSpool(folder, lambda: AideClient.sync(home, api_key=key), bounds=until_on_disk)
number = 0
while True:
    spool.put("metadata", {"resource": resource, "action": str(number)})
    print(number, flush=True)
    number += 1
"""


def test_a_killed_pipeline_leaves_everything_it_was_told_for_the_next(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    resource = tmp_path.name
    for turn in range(3):
        told = -1
        pipeline = subprocess.Popen(
            [sys.executable, "-c", PIPELINE, str(tmp_path), served.home, service_key, f"{resource}-{turn}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert pipeline.stdout is not None
        for line in pipeline.stdout:
            told = int(line)
            if told >= 60:
                pipeline.kill()
                break
        rest = [int(line) for line in pipeline.stdout if line.endswith("\n")]
        pipeline.wait()
        pipeline.stdout.close()
        told = rest[-1] if rest else told
        with spool_in(tmp_path, served.home, service_key) as spool:
            assert spool.flush(60).is_empty
        found = stored(engineer, f"{resource}-{turn}")
        assert found[: told + 1] == [str(number) for number in range(told + 1)]
        assert found == [str(number) for number in range(len(found))]


def test_two_processes_share_a_folder(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    with (
        spool_in(tmp_path, served.home, service_key) as one,
        spool_in(tmp_path, served.home, service_key) as two,
    ):
        for number in range(50):
            (one if number % 2 else two).put("metadata", {"resource": tmp_path.name, "action": str(number)})
        assert one.flush(60).is_empty
        assert two.flush(60).is_empty
    came = [int(number) for number in stored(engineer, tmp_path.name)]
    assert sorted(came) == list(range(50))
    for parity in (0, 1):  # each keeps its own order; between two, who is first is who wrote first
        own = [number for number in came if number % 2 == parity]
        assert own == sorted(own)


FORKING = """
import multiprocessing, sys, warnings
from aide_sdk import AideClient, Bounds, EventSpool
folder, home, key, resource = sys.argv[1:]
spool = EventSpool(folder, lambda: AideClient.sync(home, api_key=key), bounds=Bounds(hold=60))

def send(who):
    for number in range(30):
        spool.put("metadata", {"resource": f"{resource}-{who}", "action": str(number)})

send("before")
fork = multiprocessing.get_context("fork")
children = [fork.Process(target=send, args=(f"child{n}",)) for n in range(3)]
for child in children:
    child.start()
send("parent")
for child in children:
    child.join()
    assert child.exitcode == 0
"""


def test_children_of_a_fork_send_their_own_events(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", FORKING, str(tmp_path), served.home, service_key, tmp_path.name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    with spool_in(tmp_path, served.home, service_key) as spool:
        assert spool.flush(60).is_empty
    for who in ("before", "parent", "child0", "child1", "child2"):
        assert stored(engineer, f"{tmp_path.name}-{who}") == [str(number) for number in range(30)]


def test_an_event_that_the_server_refuses_is_put_aside_with_the_reason(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    with spool_in(tmp_path, served.home, service_key) as spool:
        spool.put("metadata", {"resource": tmp_path.name, "action": "good"})
        spool.put("metadata", {"resource": tmp_path.name, "action": "bad", "timestamp": "yesterday"})
        spool.put("metadata", {"resource": tmp_path.name, "action": "fine"})
        state = spool.flush(60)
        (refused,) = spool.refused()
    assert (state.is_empty, state.refused) == (True, 1)
    assert json.loads(refused.body)["action"] == "bad"
    assert "timestamp" in refused.reason
    assert stored(engineer, tmp_path.name) == ["good", "fine"]


def test_a_wrong_key_keeps_the_events(served: Served, tmp_path: Path) -> None:
    with spool_in(tmp_path, served.home, "aide_nobody") as spool:
        spool.put("metadata", {"resource": tmp_path.name})
        state = spool.flush(2)
    assert state.waiting == 1
    assert "401" in state.trouble


def fill(spool: EventSpool, *, times: int) -> None:
    for _ in range(times):
        spool.put("metadata", {"resource": "r", "additionalValues": {"text": "x" * 1000}})


def test_a_full_spool_says_so(tmp_path: Path) -> None:
    spool = EventSpool(tmp_path, lambda: connect_to(nowhere(), "none"), bounds=Bounds(disk=100_000))
    try:
        with pytest.raises(SpoolFullError, match="100000 bytes") as full:
            fill(spool, times=200)
        assert full.value.error_code == "SPOOL_FULL"
        assert 20 < spool.state().waiting < 200
    finally:
        spool.close(0.1)


def test_a_disk_that_stalls_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moves = threading.Event()
    add = Store.add
    monkeypatch.setattr(Store, "add", lambda store, events: moves.wait(30) and add(store, events))
    spool = EventSpool(tmp_path, lambda: connect_to(nowhere(), "none"), bounds=Bounds(memory=20_000))
    try:
        for _ in range(5):
            spool.put("metadata", {"resource": "r"})
        assert spool.state().in_memory == 5
        with pytest.raises(SpoolFullError, match="memory"):
            fill(spool, times=50)
        moves.set()
        wait_until(lambda: spool.state().in_memory == 0)
        assert spool.state().waiting >= 5
    finally:
        moves.set()
        spool.close(0.1)


def test_a_program_that_ends_sends_what_it_has(
    served: Served, service_key: str, engineer: SyncAideClient, tmp_path: Path
) -> None:
    program = (
        "import sys\n"
        "from aissemble_core_metadata.aide_metadata_api_service import AideMetadataAPIService\n"
        "from aissemble_core_metadata.metadata_model import MetadataModel\n"
        "service = AideMetadataAPIService()\n"
        "for n in range(3): service.create_metadata(MetadataModel(resource=sys.argv[1], action=str(n)))\n"
    )
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIDE_")},
        "AIDE_METASTORE_URL": served.home,
        "AIDE_METASTORE_API_KEY": service_key,
        "AIDE_SPOOL_DIR": str(tmp_path),
    }
    command = [sys.executable, "-c", program, tmp_path.name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(engineer, tmp_path.name) == ["0", "1", "2"]
    gone = environment | {"AIDE_METASTORE_URL": nowhere()}
    began = time.monotonic()
    done = subprocess.run(command, env=gone, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, time.monotonic() - began
    assert "Events wait on the disk" in done.stderr
