"""The product as processes of its own: served, worked, killed. For what a test client cannot show."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import create_engine, text

from tests.processes import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse 7 battery"
PREPARE = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("seed_data_types")
from django.contrib.auth.models import Group
from aide.accounts.models import User
for role in ("engineer", "steward", "approver"):
    user = User.objects.create_user(role + "@example.com", {password!r})
    user.groups.add(Group.objects.get(name=role))
"""


@dataclass
class Product:
    """One installation: a migrated database, people, and the commands and processes that use it."""

    database_url: str
    folder: Path
    broker_url: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """Tables, types and people, once for all copies of this database."""
        self.manage("shell", "-v", "0", "-c", PREPARE.format(password=PASSWORD))

    def env(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("AIDE_")}
        return kept | {
            "AIDE_DEBUG": "1",
            "AIDE_DATABASE_URL": self.database_url,
            "AIDE_BROKER_URL": self.broker_url,
            **self.environment,
        }

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    @contextmanager
    def process(self, name: str, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
        """A process that is killed whole at the end, whatever became of it."""
        with (self.folder / f"{name}.log").open("ab") as log:
            running = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env=self.env(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                yield running
            finally:
                kill(running)

    @contextmanager
    def served(self) -> Iterator[Served]:
        """`manage.py serve` on a free port, once it answers."""
        port = free_port()
        with self.process("serve", ["manage.py", "serve", "--port", str(port)]) as running:
            served = Served(self, running, f"http://127.0.0.1:{port}")
            wait_until(served.answers, timeout=60, every=0.2)
            yield served

    def log(self) -> str:
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))

    def execute(self, statement: str, **values: Any) -> list[Any]:
        """One SQL statement on the product's own database."""
        url = self.database_url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(url)
        try:
            with engine.begin() as connection:
                result = connection.execute(text(statement), values)
                return list(result) if result.returns_rows else []
        finally:
            engine.dispose()


@dataclass
class Served:
    """A running server and requests to it."""

    product: Product
    running: subprocess.Popen[bytes]
    home: str
    _tokens: dict[str, str] = field(default_factory=dict)

    def answers(self) -> bool:
        assert self.running.poll() is None, self.product.log()[-2000:]
        try:
            return httpx.get(f"{self.home}/health/live", timeout=2).status_code == 200
        except httpx.TransportError:
            return False

    def call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, role: str = "engineer"
    ) -> Any:
        """A request by somebody of a role; the answer's JSON."""
        if role not in self._tokens:
            form = {"username": f"{role}@example.com", "password": PASSWORD}
            answer = httpx.post(f"{self.home}/api/v1/login", data=form, timeout=20)
            self._tokens[role] = answer.raise_for_status().json()["access_token"]
        answer = httpx.request(
            method,
            f"{self.home}/api/v1{path}",
            json=body,
            headers={"Authorization": f"Bearer {self._tokens[role]}"},
            timeout=30,
        )
        assert answer.status_code < 300, (answer.status_code, answer.text[:1000])
        return answer.json()

    def wait_for(self, run_id: int, *statuses: str, timeout: float = 30) -> dict[str, Any]:
        """The run, once it has one of the statuses."""
        found: dict[str, Any] = {}

        def reached() -> bool:
            found.update(self.call("GET", f"/crawl-runs/{run_id}"))
            return found["status"] in statuses

        try:
            wait_until(reached, timeout=timeout, every=0.2)
        except AssertionError:
            raise AssertionError(f"{found}\n{self.product.log()[-3000:]}") from None
        return found


def kill(running: subprocess.Popen[bytes]) -> None:
    """End a process and its children at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait(timeout=20)
