"""Requests that no well-behaved client sends, to every endpoint: a documented refusal each, and never a 500."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from rest_framework.test import APIClient

from crawling.models import CrawlRun
from tests.factories import api_client, make_user
from tests.flows.product import Product, Served
from tests.security.api_rules import RULES
from tests.security.matrix import NOBODY
from tests.security.world import World, build

FORMS = ("login", "login/refresh", "login/logout", "login/token")
WITHOUT_BODY = (
    *(
        "/unbind",
        "/restore",
        "/publish",
        "/apply",
        "/cancel",
        "/retry",
        "/keep",
        "/reopen",
        "login/logout-all",
    ),
)
# The snapshot door takes more, so that snapshots of large databases come through.
LARGE = ("crawl-runs",)
JSON = "application/json"
STORABLE = {"NUL": rb"\u0000", "half a pair": rb"\ud800", "the other half": rb"x\udfff"}


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[World, APIClient]]:
    with django_db_blocker.unblock(), transaction.atomic():
        cache.clear()
        world = build()
        yield world, api_client(make_user("admin", "engineer", "approver"))
        transaction.set_rollback(True)


def doors(*methods: str) -> list[str]:
    return [door for door in sorted(RULES) if door.partition(" ")[0] in methods]


def with_body() -> list[str]:
    changing = [door for door in doors("POST", "PUT", "PATCH") if RULES[door][0].rule != NOBODY]
    return [door for door in changing if not door.endswith(WITHOUT_BODY)]


def address(door: str, world: World, key: str = "") -> str:
    route = door.partition(" ")[2]
    case = RULES[door][0]
    if case.path is not None:
        value = key or str(case.path(world).pk)
        route = route.replace("{pk}", value).replace("{dataset_id}", value)
    return f"/api/v1/{route}"


def send(stage: Any, door: str, *, key: str = "", query: str = "", **values: Any) -> Any:
    world, client = stage
    with transaction.atomic():
        got = client.generic(door.partition(" ")[0], address(door, world, key) + query, **values)
        transaction.set_rollback(True)
    return got


def refused(answer: Any, *statuses: int) -> dict[str, Any]:
    """The problem of an answer with one of these statuses."""
    assert answer.status_code in statuses, (answer.status_code, answer.content[:500])
    assert answer["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(answer.content)
    assert body["status"] == answer.status_code
    return body


@pytest.mark.django_db
@pytest.mark.parametrize("door", with_body())
def test_bodies_that_nobody_can_store_or_read_are_refused(door: str, stage: Any) -> None:
    for text in STORABLE.values():
        refused(send(stage, door, data=b'{"name": "' + text + b'"}', content_type=JSON), 400)
        refused(send(stage, door, data=b'{"' + text + b'": 1}', content_type=JSON), 400)
    for deep in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        refused(send(stage, door, data=deep, content_type=JSON), 400)
    for broken in (b"{", b"\xff\xfe\x00", b'{"a": NaN}', b'{"a": 1e999}', b'"' + b"x" * 10):
        refused(send(stage, door, data=broken, content_type=JSON), 400)
    for odd in (b"[]", b"null", b"1", b'"text"', b'[{"a": 1}]', b'{"items": 5}', b'{"items": [[]]}'):
        answer = send(stage, door, data=odd, content_type=JSON)
        assert answer.status_code < 500, (odd, answer.content[:500])


@pytest.mark.django_db
@pytest.mark.parametrize("door", with_body())
def test_a_text_of_ten_megabytes_is_refused(door: str, stage: Any) -> None:
    body = b'{"name": "' + b"x" * 10_000_000 + b'"}'
    status = (422,) if door.partition(" ")[2] in LARGE else (413,)
    refused(send(stage, door, data=body, content_type=JSON), *status)
    squeezed = gzip.compress(body, 1)
    refused(send(stage, door, data=squeezed, content_type=JSON, HTTP_CONTENT_ENCODING="gzip"), *status)


@pytest.mark.django_db
@pytest.mark.parametrize("door", with_body())
def test_other_content_types_are_refused(door: str, stage: Any) -> None:
    route = door.partition(" ")[2]
    wrong = ["text/plain", "application/xml", "nonsense", "application/json; charset=utf-16"]
    if route not in FORMS:
        wrong += ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    for content_type in wrong:
        refused(send(stage, door, data=b'{"name": "x"}', content_type=content_type), 415)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "door",
    [door for door in sorted(RULES) if "{" in door and "{resource}" not in door],  # any text may be one
)
def test_ids_that_cannot_be_are_not_found(door: str, stage: Any) -> None:
    world, _ = stage
    case = RULES[door][0]
    body = json.dumps(case.body(world)).encode() if case.body else b""
    for key in (
        "1" + "0" * 30,
        "9" * 19,
        "0",
        "-1",
        "1.5",
        "%00",
        "%F0%9F%98%80",
        "%ED%A0%80",
        "null",
        "1e3",
        "%D9%A1",
    ):
        answer = send(stage, door, key=key, query=case.query, data=body, content_type=JSON)
        assert refused(answer, 404)["error_code"].endswith("NOT_FOUND")


@pytest.mark.django_db
@pytest.mark.parametrize("door", doors("GET"))
def test_unknown_parameters_and_pages_are_refused(door: str, stage: Any) -> None:
    if door in {"GET schema", "GET docs"}:  # they take what the packages that make them take
        return
    for query in (
        "?nonsense=1",
        "?page=0",
        "?size=0",
        "?size=501",
        "?page=x",
        "?name__regex=a",
        "?sort=password",
    ):
        refused(send(stage, door, query=query), 422)
    for query in ("?id=" + "9" * 31, "?id__in=" + "1," * 600, "?created_at__gte=99999-01-01", "?x%00=1"):
        refused(send(stage, door, query=query), 422)


@pytest.mark.django_db
def test_what_others_refer_to_is_not_deleted(stage: Any) -> None:
    world, client = stage
    CrawlRun.objects.filter(pk=world.queued_run.pk).update(status=CrawlRun.Status.QUEUED)
    for path in (
        f"system-kinds/{world.here.flavor.kind_id}",
        f"system-flavors/{world.here.flavor_id}",
        f"systems/{world.here.pk}",
        f"data-types/{world.numeric.pk}",
        f"pii-tags/{world.suggestion.tag_id}",
        f"fields/{world.field.pk}",
        f"dataset-schemas/{world.dataset.current_schema_id}",
        f"type-instances/{world.dataset.current_schema.bindings.first().type_instance_id}",
        f"field-bindings/{world.dataset.current_schema.bindings.first().pk}",
    ):
        with transaction.atomic():
            refused(client.delete(f"/api/v1/{path}"), 409)
            transaction.set_rollback(True)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("half")
    product = Product(f"sqlite:///{folder}/aide.sqlite3", Path(folder))
    product.prepare()
    with product.served() as running:
        yield running


@pytest.mark.slow
def test_a_body_that_ends_halfway_changes_nothing(served: Served) -> None:
    """The client says that a hundred bytes come, sends twenty and hangs up, or sends half a chunk."""
    host, port = served.home.removeprefix("http://").split(":")
    for door in with_body():
        method, _, route = door.partition(" ")
        path = f"/api/v1/{route}".replace("{pk}", "1").replace("{dataset_id}", "1")
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        for rest in (
            "Content-Length: 100\r\n\r\n" + '{"code": "half", "na',
            "Transfer-Encoding: chunked\r\n\r\n20\r\n" + '{"code": "half", "na',
            "Transfer-Encoding: chunked\r\n\r\nnot a size\r\n",
            "Content-Length: 60\r\nContent-Encoding: gzip\r\n\r\n" + '{"code": "half", "na',
        ):
            with socket.create_connection((host, int(port)), timeout=20) as wire:
                wire.sendall((head + rest).encode())
                wire.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda wire=wire: wire.recv(65536), b""))
            status = int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 400
            assert 400 <= status < 500, (door, rest, answer[:300])
    assert served.answers()
    assert "Traceback" not in served.product.log()
    items = served.call("GET", "/system-kinds?code=half")["items"]
    assert items == []
