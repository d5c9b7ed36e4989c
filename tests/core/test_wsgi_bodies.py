"""Bodies over a real connection to the production server: plain, gzip, chunked, both, and bombs."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADMIN = "root@localhost"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """(host, port) of `manage.py serve` on a database of its own, with an administrator."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("served")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIDE_")} | {
        "AIDE_SECRET_KEY": "s" * 60,
        "AIDE_ALLOWED_HOSTS": "127.0.0.1",
        "AIDE_DATABASE_URL": f"sqlite:///{folder}/served.sqlite3",
        "AIDE_ADMIN_EMAIL": ADMIN,
        "AIDE_ADMIN_PASSWORD": "long enough 77",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    for command in ("migrate", "ensure_admin"):
        subprocess.run(
            [*manage, command, "-v", "0"], env=environment, check=True, capture_output=True, timeout=600
        )
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [*manage, "serve", "--port", str(port)], env=environment, stdout=log, stderr=log
    )
    try:
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield "127.0.0.1", port
    finally:
        process.terminate()
        process.wait(timeout=30)
        log.close()


def exchange(server, head: str, body: bytes, *, chunk: int = 0) -> tuple[int, dict, dict]:
    """(status, headers, JSON) of one request that is written to the wire as it is."""
    with socket.create_connection(server, timeout=20) as wire:
        extra = "Transfer-Encoding: chunked" if chunk else f"Content-Length: {len(body)}"
        host = "" if "\nHost:" in head else "\r\nHost: 127.0.0.1"
        wire.sendall(f"{head}{host}\r\nConnection: close\r\n{extra}\r\n\r\n".encode())
        try:
            if chunk:
                for start in range(0, len(body), chunk):
                    part = body[start : start + chunk]
                    wire.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                wire.sendall(b"0\r\n\r\n")
            else:
                wire.sendall(body)
        except OSError:
            pass  # the server may refuse before all is sent
        answer = b""
        try:
            while part := wire.recv(65536):
                answer += part
        except OSError:
            pass
    lines, _, content = answer.partition(b"\r\n\r\n")
    first, *rest = lines.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    return int(first.split()[1]), headers, json.loads(content) if content else {}


@pytest.fixture(scope="module")
def token(server):
    head = "POST /api/v1/login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded"
    status, _, answer = exchange(server, head, b"username=ROOT%40localhost&password=long+enough+77")
    assert status == 200, answer
    return answer["access_token"]


def post(server, token, body, *, path="/api/v1/system-kinds", encoding="", chunk=0):
    head = f"POST {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json"
    if encoding:
        head += f"\r\nContent-Encoding: {encoding}"
    return exchange(server, head, body, chunk=chunk)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/v1/system-kinds", "/api/v1/system-kinds/"])
def test_every_form_of_body_arrives_whole(server, token, path):
    made = []
    for number, (encoding, chunk) in enumerate([("", 0), ("gzip", 0), ("", 7), ("gzip", 7)]):
        code = f"W{number}{'S' if path.endswith('/') else ''}"
        body = json.dumps({"code": code, "name": "w"}).encode()
        raw = gzip.compress(body) if encoding else body
        status, _, answer = post(server, token, raw, path=path, encoding=encoding, chunk=chunk)
        assert status == 201, answer
        made.append(answer["code"])
    assert len(set(made)) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "chunk"), [("", 0), ("gzip", 0), ("", 65536), ("gzip", 65536)])
def test_a_body_beyond_the_bound_is_413_and_the_server_lives(server, token, encoding, chunk):
    big = b" " * (6 * 1024 * 1024)
    raw = gzip.compress(big * 10) if encoding else big
    status, headers, answer = post(server, token, raw, encoding=encoding, chunk=chunk)
    assert status == 413
    assert headers["content-type"] == "application/problem+json"
    assert answer["error_code"] == "PAYLOAD_TOO_LARGE"
    assert post(server, token, b'{"code": "W0"}')[0] == 422


@pytest.mark.slow
def test_the_production_server_answers_without_telling_secrets(server, token):
    head = f"GET /api/v1/systems?secret=hidden-word HTTP/1.1\r\nAuthorization: Bearer {token}"
    status, headers, answer = exchange(server, head, b"")
    assert status == 422
    assert "content-security-policy" in headers
    assert headers["x-content-type-options"] == "nosniff"
    assert answer["error_code"] == "VALIDATION_ERROR"
    status, _, answer = exchange(server, "GET /health/ready HTTP/1.1", b"")
    assert status == 200
    assert set(answer["checks"]) == {"database", "broker", "kafka", "worker", "outbox"}
    status, _, answer = exchange(server, "GET /nothing HTTP/1.1\r\nHost: evil.example", b"")
    assert (status, answer["error_code"]) == (400, "MALFORMED_REQUEST")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (f"GET /api/v1/systems?q={'a' * 9000} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 414),
        (f"GET /api/v1/systems HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Big: {'a' * 9000}\r\n\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "X-Many: 1\r\n" * 200 + "\r\n", 431),
        ("GET /api/v1/systems HTTP/1.1\r\nHost: 127.0.0.1\r\nBad Name: 1\r\n\r\n", 400),
        ("<script>alert(1)</script>\r\n\r\n", 400),
        ("GET / HTTP/9.9\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: odd\r\n\r\n", 501),
    ],
    ids=["long line", "long header", "many headers", "bad name", "no request", "no version", "odd encoding"],
)
def test_what_the_server_itself_refuses_is_a_problem_too(server, raw, expected):
    with socket.create_connection(server, timeout=20) as wire:
        wire.sendall(raw.encode())
        answer = b""
        try:
            while part := wire.recv(65536):
                answer += part
        except ConnectionResetError:
            pass
    head, _, content = answer.partition(b"\r\n\r\n")
    assert int(head.split()[1]) == expected
    assert b"content-type: application/problem+json" in head.lower()
    told = json.loads(content)
    assert {"type", "title", "status", "detail", "error_code", "request_id", "errors"} == set(told)
    assert (told["status"], told["errors"]) == (expected, [])
    assert told["request_id"]
    assert b"script" not in content


@pytest.mark.slow
def test_an_address_of_8000_characters_is_taken(server, token):
    head = f"GET /api/v1/systems?q={'a' * 7900} HTTP/1.1\r\nAuthorization: Bearer {token}"
    status, _, answer = exchange(server, head, b"")
    assert status in {200, 422}, answer
