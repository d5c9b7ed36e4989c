"""The API against its own OpenAPI document: generated requests get documented answers and never a 500."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import schemathesis
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from aide.accounts import tokens
from aide.core.api.describing import OneGenerator
from aide.wsgi import application
from tests.factories import make_user
from tests.security.api_rules import RULES
from tests.security.world import World, build

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES, MANY = 8, 60
PREFIX = "/api/v1/"


def undone(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The application, each request in a savepoint that is undone."""
    with transaction.atomic():
        answer = application(environ, start_response)
        body = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        transaction.set_rollback(True)
    return [body]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    ends = (request_started, request_finished)
    for signal in ends:  # they would close the connection, and with it the transaction around the tests
        signal.disconnect(close_old_connections)
    with django_db_blocker.unblock(), transaction.atomic():
        cache.clear()
        yield build()
        transaction.set_rollback(True)
    for signal in ends:
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def token(world: World) -> str:
    user = make_user("admin", "engineer", "approver", email="everyone@example.com")
    return tokens.issue(user).access_token


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(json.dumps(OneGenerator().get_schema(public=True)))


def operations(document: Any) -> list[Any]:
    """Every operation of the document; fails when the document itself is wrong."""
    schema = schemathesis.openapi.from_dict(document)
    schema.app = undone
    return [each.ok() for each in schema.get_all_operations()]


def real_values(world: World, method: str, path: str) -> dict[str, str]:
    """Ids that lead somewhere, so that generated bodies get past the first look."""
    route = path.removeprefix(PREFIX)
    for door, cases in RULES.items():
        one_method, _, known = door.partition(" ")
        shape = known.replace("{pk}", "{}").replace("{dataset_id}", "{}")
        if one_method == method and shape == route.replace("{id}", "{}").replace("{dataset_id}", "{}"):
            thing = cases[0].path(world) if cases[0].path else None
            return {} if thing is None else {"id": str(thing.pk), "dataset_id": str(thing.pk)}
    return {}


def exercise(operation: Any, *, world: World, token: str, examples: int) -> int:
    """Send generated requests to one operation, half of them to things that exist. Returns how many."""
    known = real_values(world, operation.method.upper(), operation.path)
    sent = 0

    @given(case=operation.as_strategy(), is_real=st.booleans())
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=examples == EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    def send(case: Any, is_real: bool) -> None:
        nonlocal sent
        if is_real and known:
            case.path_parameters = {
                name: known.get(name, value) for name, value in (case.path_parameters or {}).items()
            }
        response = case.call(headers={"Authorization": f"Bearer {token}"})
        case.validate_response(response, checks=CHECKS)
        sent += 1

    send()
    return sent


def all_operations(document: Any, *, world: World, token: str, examples: int) -> None:
    found = operations(document)
    assert len(found) >= 120
    faults = []
    for operation in found:
        try:
            exercise(operation, world=world, token=token, examples=examples)
        except (Exception, FailureGroup) as fault:  # noqa: BLE001 - every operation is tried before the test fails
            faults.append(f"{operation.method.upper()} {operation.path}\n{fault!s:.3000}")
    assert not faults, f"{len(faults)} operations:\n" + "\n\n".join(faults)


@pytest.mark.django_db
@pytest.mark.slow
def test_generated_requests_get_documented_answers(document: Any, world: World, token: str) -> None:
    all_operations(document, world=world, token=token, examples=EXAMPLES)


@pytest.mark.django_db
@pytest.mark.nightly
def test_many_generated_requests_get_documented_answers(document: Any, world: World, token: str) -> None:
    all_operations(document, world=world, token=token, examples=MANY)
