"""A small HTTP server that speaks what a Vault does of key/value version 2 and AppRole; for tests only."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class VaultServer:
    """What the vault holds and how it behaves; secrets are lists of versions by `mount/path`."""

    url: str
    token: str
    role_id: str = ""
    secret_id: str = ""
    namespace: str = ""
    secrets: dict[str, list[dict[str, Any] | None]] = field(default_factory=dict)
    sealed: bool = False
    wait_seconds: float = 0
    answer: bytes | None = None
    redirect_to: str = ""
    seen: list[str] = field(default_factory=list)

    def respond(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(target)
        path = unquote(parts.path)
        self.seen.append(f"{method} {target}")
        time.sleep(self.wait_seconds)
        if self.sealed:
            return 503, {"errors": ["Vault is sealed"]}
        if self.answer is not None:
            return 200, self.answer
        if method == "POST" and path == "/v1/auth/approle/login":
            given = json.loads(body)
            if (given.get("role_id"), given.get("secret_id") or "") != (self.role_id, self.secret_id):
                return 400, {"errors": [f"invalid role or secret ID {given}"]}
            return 200, {"auth": {"client_token": self.token, "lease_duration": 60, "renewable": False}}
        if (
            headers.get("X-Vault-Token") != self.token
            or (headers.get("X-Vault-Namespace") or "") != self.namespace
        ):
            return 403, {"errors": [f"permission denied for {headers.get('X-Vault-Token')}"]}
        mount, _, rest = path.removeprefix("/v1/").partition("/data/")
        versions = self.secrets.get(f"{mount}/{rest}")
        number = int(parse_qs(parts.query).get("version", ["0"])[0])
        if versions is None or number > len(versions):
            return 404, {"errors": []}
        content = versions[(number or len(versions)) - 1]
        metadata = {"version": number or len(versions), "deletion_time": ""}
        if content is None:
            return 404, {
                "data": {"data": None, "metadata": metadata | {"deletion_time": "2026-01-01T00:00:00Z"}}
            }
        return 200, {"data": {"data": content, "metadata": metadata}}


@contextmanager
def serve_vault(token: str) -> Iterator[VaultServer]:
    """A vault on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = vault.respond(method, self.path, self.headers, body)
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            if vault.redirect_to:
                status = 307
            self.send_response(status)
            if vault.redirect_to:
                self.send_header("Location", vault.redirect_to + self.path)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            with suppress(ConnectionError):  # a client that waits no longer
                self.wfile.write(raw)

        def log_message(self, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    vault = VaultServer(f"http://127.0.0.1:{server.server_port}", token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield vault
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
