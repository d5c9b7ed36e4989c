"""A small HTTP server whose answers a test scripts, and which remembers what it was asked."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request. `body` is decoded: JSON values, or the fields of a form."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Say:
    """An answer; `is_lost` closes the connection without one."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_lost: bool = False


LOST = Say(is_lost=True)


@dataclass
class Scripted:
    """The running server."""

    url: str
    asked: list[Asked] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [f"{each.method} {each.path.removeprefix('/api/v1')}" for each in self.asked]


@contextmanager
def scripted(answer: Callable[[Asked], Say]) -> Iterator[Scripted]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            is_form = self.headers.get("Content-Type") == "application/x-www-form-urlencoded"
            body = dict(parse_qsl(raw.decode())) if is_form else json.loads(raw) if raw else None
            place = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = dict(parse_qsl(place.query, keep_blank_values=True))
            asked = Asked(self.command, place.path, query, headers, body)
            with lock:
                server.asked.append(asked)
            said = answer(asked)
            if said.is_lost:
                self.close_connection = True
                return
            content = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in {"Content-Type": "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    http = Quiet(("127.0.0.1", 0), Handler)
    server = Scripted(f"http://127.0.0.1:{http.server_address[1]}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def problem(status: int, code: str, **headers: str) -> Say:
    body = {"status": status, "error_code": code, "detail": "Not now.", "errors": [], "request_id": "r1"}
    return Say(status, body, {name.replace("_", "-"): value for name, value in headers.items()})
