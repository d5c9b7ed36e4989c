"""AIDE served as in production on the database of this process, and a client with a log-in, for benchmarks."""

from __future__ import annotations

import http.client
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def served(*scopes: str) -> Iterator[Asker]:
    """A client of `manage.py serve`, with an API key of these scopes; Django is set up, the database migrated."""
    from django.contrib.auth.models import Group

    from aide.accounts.keys import make_key
    from aide.accounts.models import User
    from tests.processes import free_port

    user = User.objects.create_user(f"bench{secrets.token_hex(4)}@localhost", "x")
    user.groups.add(Group.objects.get(name="service"))
    _, secret = make_key(user=user, name="bench", scopes=list(scopes))
    port = free_port()
    environment = {
        "AIDE_DEBUG": "0",
        "AIDE_HTTPS": "0",
        "AIDE_ALLOWED_HOSTS": "127.0.0.1",
        "AIDE_SECRET_KEY": secrets.token_urlsafe(64),
        # With a broker nothing but requests is done in the web process.
        "AIDE_BROKER_URL": "redis://127.0.0.1:1/0",
    }
    server = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--port", str(port)],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        asker = Asker(port, secret)
        asker.wait()
        yield asker
    finally:
        server.terminate()
        server.wait(20)


class Asker:
    """A client with a log-in and one connection that is kept."""

    def __init__(self, port: int, secret: str) -> None:
        self.server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {secret}"}

    def wait(self) -> None:
        for _ in range(600):
            try:
                self.get("/health/live")
            except OSError:
                self.server.close()
                time.sleep(0.1)
            else:
                return
        raise SystemExit("The server does not answer.")

    def get(self, path: str) -> tuple[float, Any]:
        """Seconds, and the body."""
        return self._ask("GET", path, None, {})

    def post(self, path: str, body: bytes) -> tuple[float, Any]:
        return self._ask("POST", path, body, {"Content-Type": "application/json"})

    def _ask(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[float, Any]:
        began = time.perf_counter()
        self.server.request(method, path, body, {**self.headers, **headers})
        try:
            answer = self.server.getresponse()
        except http.client.RemoteDisconnected:  # it was idle for long: a new one
            self.server.close()
            return self._ask(method, path, body, headers)
        told = answer.read()
        taken = time.perf_counter() - began
        if answer.status >= 300:
            raise SystemExit(f"{path} answered {answer.status}: {told[:300]!r}")
        return taken, told


def p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)]


def spread(seconds: Sequence[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    return f"p50 {statistics.median(seconds) * 1000:6.1f} ms, p95 {p95(seconds) * 1000:6.1f} ms"
