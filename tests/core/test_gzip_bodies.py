"""Gzip bodies are decoded within bounds: whatever is sent, the work grows no faster than its size."""

from __future__ import annotations

import gzip
import time

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings

from aide.ingress import IngressMiddleware

MIB = 1024 * 1024
EMPTY = gzip.compress(b"")


def send(raw: bytes, *, path: str = "/api/v1/systems") -> HttpResponse:
    """The answer: 200 with the decoded body, or the refusal."""

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(request.body)

    request = RequestFactory().post(
        path, data=raw, content_type="application/json", HTTP_CONTENT_ENCODING="gzip"
    )
    return IngressMiddleware(view)(request)


@pytest.mark.parametrize("path", ["/api/v1/systems", "/api/v1/crawl-runs"])
def test_many_empty_members_are_refused_at_little_cost(path: str) -> None:
    raw = EMPTY * (4 * MIB // len(EMPTY))
    began = time.thread_time()
    answer = send(raw, path=path)
    assert time.thread_time() - began < 2
    assert answer.status_code == 400
    assert b"members" in answer.content


def test_a_long_tail_of_padding_costs_little() -> None:
    began = time.thread_time()
    answer = send(gzip.compress(b"{}") + b"\0" * (4 * MIB - 100))
    assert time.thread_time() - began < 2
    assert (answer.status_code, answer.content) == (200, b"{}")


def test_members_and_padding_between_them_arrive_as_one_body() -> None:
    parts = [bytes([65 + number % 26]) * (1 + 997 * number) for number in range(60)]
    raw = b"".join(gzip.compress(part) + b"\0" * (number % 3) for number, part in enumerate(parts))
    answer = send(raw)
    assert (answer.status_code, answer.content) == (200, b"".join(parts))


@override_settings(AIDE_BODY_LIMIT=MIB)
def test_the_bound_counts_all_members_together() -> None:
    assert send(gzip.compress(b" " * MIB)).status_code == 200
    assert send(gzip.compress(b" " * MIB) + EMPTY).status_code == 200
    assert send(gzip.compress(b" " * MIB) + gzip.compress(b" ")).status_code == 413
    assert send(gzip.compress(b" " * (MIB + 1))).status_code == 413


@pytest.mark.parametrize(
    "raw",
    [
        b"plain",
        gzip.compress(b"x" * 500)[:-3],
        gzip.compress(b"{}") + b"rest",
        gzip.compress(b"{}") + EMPTY[:7],
        gzip.compress(b"{}")[:-8] + b"\1" * 8,
    ],
    # Compressed bytes hold the time: names must not.
    ids=["plain", "cut", "followed by text", "followed by half a member", "wrong checksum"],
)
def test_what_is_not_gzip_is_malformed(raw: bytes) -> None:
    assert send(raw).status_code == 400
