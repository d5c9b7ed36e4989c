"""`manage.py serve` as people and service managers use it: it starts, answers, refuses in words, ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def environment(**values: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AIDE_")}
    return {**kept, **values}


def manage(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an instance whose database holds the demo."""
    folder = tmp_path_factory.mktemp("instance")
    env = environment(AIDE_DEBUG="1", AIDE_DATABASE_URL=f"sqlite:///{folder}/aide.sqlite3")
    made = manage("seed_demo", env=env)
    assert made.returncode == 0, made.stderr
    return env


@pytest.fixture(scope="module")
def running(prepared: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        cwd=ROOT,
        env=prepared,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        wait_until(lambda: answers(port) or process.poll() is not None, timeout=60)
        yield process, port
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def test_the_root_leads_to_the_log_in_page(running: Any) -> None:
    _process, port = running
    answer = httpx.get(f"http://127.0.0.1:{port}/", follow_redirects=True)
    assert answer.status_code == 200
    assert "/login" in str(answer.url)


def test_static_files_are_served(running: Any) -> None:
    _process, port = running
    page = httpx.get(f"http://127.0.0.1:{port}/", follow_redirects=True).text
    styles = [part.split('"')[0] for part in page.split('href="') if ".css" in part.split('"')[0]]
    assert styles
    for style in styles:
        assert httpx.get(f"http://127.0.0.1:{port}{style}").status_code == 200


def test_queued_work_is_done_in_the_web_process(running: Any) -> None:
    _process, port = running

    def worker_is_alive() -> bool:
        checks = httpx.get(f"http://127.0.0.1:{port}/health/ready").json()["checks"]
        return bool(checks["worker"]["status"] == "ok")

    wait_until(worker_is_alive, timeout=20)


def test_a_taken_port_is_said_plainly(prepared: dict[str, str], running: Any) -> None:
    _process, port = running
    answer = manage("serve", "--port", str(port), env=prepared)
    assert answer.returncode == 1
    assert f"Port {port} of 127.0.0.1 is taken" in answer.stderr
    assert "Traceback" not in answer.stderr


ADD_A_SYSTEM = (
    "from registry.models import System, SystemFlavor; "
    "System.objects.create(code='mine', name='Mine', flavor=SystemFlavor.objects.get(code='sqlite'))"
)


def test_the_demo_starts_again_when_somebody_has_added_a_system(prepared: dict[str, str]) -> None:
    assert manage("shell", "-c", ADD_A_SYSTEM, env=prepared).returncode == 0
    again = manage("seed_demo", env=prepared)
    assert again.returncode == 0, again.stderr
    assert "steward@demo.aide" in again.stdout
    assert "outbox.message" not in again.stdout + again.stderr


def test_the_demo_is_not_mixed_into_another_database(tmp_path: Path) -> None:
    env = environment(AIDE_DEBUG="1", AIDE_DATABASE_URL=f"sqlite:///{tmp_path}/own.sqlite3")
    assert manage("migrate", env=env).returncode == 0
    assert manage("seed_data_types", env=env).returncode == 0
    assert manage("shell", "-c", ADD_A_SYSTEM, env=env).returncode == 0
    refused = manage("seed_demo", env=env)
    assert refused.returncode == 1
    assert "not the demo's: mine" in refused.stderr


def test_an_old_database_is_said_plainly(tmp_path: Path) -> None:
    env = environment(AIDE_DEBUG="1", AIDE_DATABASE_URL=f"sqlite:///{tmp_path}/empty.sqlite3")
    answer = manage("serve", "--port", str(free_port()), env=env)
    assert answer.returncode == 1
    assert "manage.py migrate" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_missing_production_values_are_said_with_a_hint(tmp_path: Path) -> None:
    env = environment(AIDE_DATABASE_URL=f"sqlite:///{tmp_path}/empty.sqlite3")
    answer = manage("serve", env=env)
    assert answer.returncode == 1
    assert "AIDE_SECRET_KEY" in answer.stderr
    assert "HINT" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_it_ends_when_asked(running: Any) -> None:
    process, port = running
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)
    assert process.returncode == 0
    assert not answers(port)
