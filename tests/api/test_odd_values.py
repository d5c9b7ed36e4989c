"""Every value of every body, one at a time, replaced by what nobody would send: answered, and never with a 500."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from rest_framework.test import APIClient

from tests.api.test_probes import address, with_body
from tests.factories import api_client, make_user
from tests.security.api_rules import RULES
from tests.security.world import World, build

DEEP: Any = []
for _ in range(90):
    DEEP = [DEEP]
ODD: list[Any] = [
    *(None, True, False, 0, -1, 2**31, 2**63, 10**30, -(10**400), 0.5, 1e308, -0.0, 5e-324),
    *(
        "",
        " ",
        "\t",
        "\n",
        "0",
        "null",
        "a\u202eb",
        "\ud83d\ude00",
        "\u0661",
        "e\u0301",
        "x" * 300,
        "x" * 70_000,
    ),
    *(
        "'; DROP TABLE x; --",
        "{{ 7*7 }}",
        "%",
        "%s%n",
        "../../etc/passwd",
        "a\r\nB: c",
        "<script>",
        "$.a",
        "=1+1",
    ),
    *(
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-02-30",
        "http://[",
        "sqlite://",
        "[",
        "{",
    ),
    *(
        [],
        [None],
        [[]],
        ["a"],
        [1, "a", None, {}],
        {},
        {"": ""},
        {"a": None},
        {"$ref": "#"},
        {"items": []},
        DEEP,
    ),
    *([0] * 3_000, {str(n): n for n in range(3_000)}, ["x" * 5_000] * 20),
]


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[World, APIClient]]:
    with django_db_blocker.unblock(), transaction.atomic():
        cache.clear()
        world = build()
        yield world, api_client(make_user("admin", "engineer", "approver"))
        transaction.set_rollback(True)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each value of a body is; of a list the first."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    body = copy.deepcopy(body)
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return body


@pytest.mark.django_db
@pytest.mark.nightly
@pytest.mark.parametrize("door", [door for door in with_body() if any(case.body for case in RULES[door])])
def test_any_value_in_the_place_of_another_is_answered(door: str, stage: tuple[World, APIClient]) -> None:
    world, client = stage
    method = door.partition(" ")[0]
    for case in RULES[door]:
        if case.body is None:
            continue
        body = case.body(world)
        known = {"row_version": 1} if method != "POST" and isinstance(body, dict) else {}
        for path in places({**body, **known} if known else body):
            for odd in ODD:
                data = json.dumps(replaced({**body, **known} if known else body, path, odd))
                with transaction.atomic():
                    answer = client.generic(
                        method, address(door, world) + case.query, data=data, content_type="application/json"
                    )
                    transaction.set_rollback(True)
                assert answer.status_code < 500, (door, path, str(odd)[:80], answer.content[:300])
                if answer.status_code >= 400:
                    assert answer["Content-Type"] == "application/problem+json"
