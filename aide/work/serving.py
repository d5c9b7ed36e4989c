"""The production WSGI server, with the in-process worker where there is no broker. Only `serve` uses it."""

from __future__ import annotations

import json
import socket
import sys
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from gunicorn.app.base import BaseApplication
from gunicorn.http.errors import (
    ExpectationFailed,
    ForbiddenProxyRequest,
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
    UnsupportedTransferCoding,
)
from gunicorn.workers.gthread import ThreadWorker

from aide.core.problems import PROBLEM_TYPE, problem
from aide.work.runner import Runner

THREADS = 8
LONGEST_LINE = 8190
REFUSALS = {
    LimitRequestLine: 414,
    LimitRequestHeaders: 431,
    ExpectationFailed: 417,
    UnsupportedTransferCoding: 501,
    ForbiddenProxyRequest: 403,
}


class ProblemWorker(ThreadWorker):  # type: ignore[misc,unused-ignore]
    """Refuses what is no HTTP, or beyond the server's bounds, in the product's own form of error."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        if not isinstance(exc, ParseException) or isinstance(
            exc, InvalidResponseHeader | InvalidResponseHeaderName
        ):
            self.log.error("Error handling request", exc_info=exc)
            status = 500
        else:
            status = next((number for kind, number in REFUSALS.items() if isinstance(exc, kind)), 400)
            self.log.warning("Refused with %s: %s", status, type(exc).__name__)
        try:
            client.sendall(_refusal(status))
        except OSError:
            self.log.debug("The client went before it was answered.")


def _refusal(status: int) -> bytes:
    """The whole answer on the wire; the connection ends with it."""
    request_id = uuid.uuid4().hex
    content = json.dumps({**problem(status), "request_id": request_id}).encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nConnection: close\r\nContent-Type: {PROBLEM_TYPE}\r\n"
        f"Content-Length: {len(content)}\r\nX-Request-ID: {request_id}\r\nX-Content-Type-Options: nosniff\r\n\r\n"
    )
    return head.encode() + content


class Server(BaseApplication):
    """Gunicorn with threads. Without a broker each of its processes also carries out queued work."""

    def __init__(self, *, host: str, port: int, workers: int, announce: Callable[[], None]) -> None:
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._workers = workers
        self._announce = announce
        self._runner: Runner | None = None
        super().__init__()

    def load_config(self) -> None:
        values: dict[str, Any] = {
            "bind": self._address,
            "workers": self._workers,
            "worker_class": ProblemWorker,
            "limit_request_line": LONGEST_LINE,
            "threads": THREADS,
            "timeout": 120,
            "graceful_timeout": 20,
            "keepalive": 5,
            "loglevel": "warning",
            "proc_name": "aide",
            "control_socket_disable": True,
            "worker_tmp_dir": "/dev/shm" if sys.platform == "linux" else None,  # noqa: S108 (a heartbeat file)
            "when_ready": lambda _arbiter: self._announce(),
            "post_worker_init": lambda _worker: self._start_runner(),
            "worker_exit": lambda _arbiter, _worker: self._stop_runner(),
        }
        for name, value in values.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return get_wsgi_application()

    def _start_runner(self) -> None:
        if not settings.AIDE_BROKER_URL:
            self._runner = Runner()
            self._runner.start()

    def _stop_runner(self) -> None:
        if self._runner is not None:
            self._runner.stop()


def why_not_listen(host: str, port: int) -> str | None:
    """Why nothing can listen at this address, in words; None when it is free."""
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        return f"The host {host} is not known here."
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except PermissionError:
            return f"Listening on port {port} is not allowed for this user."
        except OSError:
            return f"Port {port} of {host} is taken by another program."
    return None
