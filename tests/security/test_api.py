"""Every endpoint, method and case, for everybody: what the table forbids neither succeeds nor shows anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from rest_framework.test import APIClient

from aide.audit.models import AuditEntry
from crawling.models import CrawlRun
from tests.factories import api_client
from tests.security.api_rules import QUESTIONS, RULES, UNRECORDED
from tests.security.cases import Case
from tests.security.doors import api_doors
from tests.security.matrix import API_CALLERS, SEE, Caller
from tests.security.world import MARK, World, build, switch_off, visitors

REFUSED = {401, 403, 404}
FORMS = ("login", "login/token")


@dataclass
class Stage:
    """The world with a client for each caller."""

    world: World
    clients: dict[str, APIClient]


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Stage]:
    """Built once; each knock happens in a savepoint that is undone."""
    with (
        django_db_blocker.unblock(),
        override_settings(AIDE_FOUR_EYES="off"),  # who is second is another test's matter
        transaction.atomic(),
    ):
        world = build()
        people = visitors(world)
        clients = {
            name: api_client(each.user if not each.secret else None, secret=each.secret)
            for name, each in people.items()
        }
        switch_off(people)
        yield Stage(world, clients)
        transaction.set_rollback(True)


@dataclass
class Answer:
    status: int
    text: str
    wrote: int


def knock(stage: Stage, caller: Caller, door: str, case: Case) -> Answer:
    """One request, undone afterwards."""
    method, _, route = door.partition(" ")
    world = stage.world
    query = case.query
    if case.path is not None:
        thing = case.path(world)
        query = query.replace("{pk}", str(thing.pk))
        route = route.replace("{pk}", str(thing.pk)).replace("{dataset_id}", str(thing.pk))
    body = case.body(world) if case.body is not None else None
    form = {"format": "multipart"} if route in FORMS else {"format": "json"}
    with transaction.atomic():
        if route.endswith("/cancel"):
            CrawlRun.objects.filter(pk=world.queued_run.pk).update(status=CrawlRun.Status.QUEUED)
        last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        send = getattr(stage.clients[caller.name], method.lower())
        address = f"/api/v1/{route}{query}"
        got = send(address) if body is None else send(address, body, **form)
        wrote = AuditEntry.objects.filter(pk__gt=last).count()
        text = got.getvalue().decode() if got.streaming else got.content.decode()
        transaction.set_rollback(True)
    return Answer(got.status_code, text, wrote)


def faults_of(door: str, case: Case, caller: Caller, answer: Answer) -> str:
    """What is wrong with an answer; empty when it is as the table says."""
    where = f"{door} {case.name} by {caller.name}: {answer.status}"
    is_write = not door.startswith("GET ")
    if case.rule.lets_in(caller):
        if not 200 <= answer.status < 300:
            return f"{where}, but it is allowed: {answer.text[:300]}"
        if case.rule.rows and MARK in answer.text and not case.rule.shows(caller):
            return f"{where} shows rows of a system that is not theirs"
        return ""
    if answer.status not in REFUSED and not (case.rule.open_to == "nobody" and answer.status == 409):
        return f"{where}, but it is forbidden: {answer.text[:300]}"
    if answer.status == 401 and caller.is_known:
        return f"{where}, although they are logged in"
    if answer.status != 401 and not caller.is_known:
        return f"{where}, although nobody is logged in"
    if MARK in answer.text and not caller.holds(SEE, here=True):
        return f"{where} shows what it refuses: {answer.text[:300]}"
    if is_write and answer.wrote:
        return f"{where} has written to the audit log"
    return ""


def test_every_endpoint_has_a_rule() -> None:
    doors = api_doors()
    assert sorted(set(doors) - set(RULES)) == [], "endpoints without a rule in tests/security/api_rules.py"
    assert sorted(set(RULES) - set(doors)) == [], "rules of endpoints that are gone"


def test_there_are_many_cells() -> None:
    assert sum(len(cases) for cases in RULES.values()) * len(API_CALLERS) >= 1500


@pytest.mark.django_db
@pytest.mark.parametrize("door", sorted(RULES))
def test_the_table_is_kept(door: str, stage: Stage) -> None:
    faults = []
    recorded = 0
    for case in RULES[door]:
        for caller in API_CALLERS:
            answer = knock(stage, caller, door, case)
            faults.append(faults_of(door, case, caller, answer))
            recorded += answer.wrote
    assert [fault for fault in faults if fault] == []
    is_write = not door.startswith("GET ") and not RULES[door][0].rule.open_to
    if is_write and door not in UNRECORDED | QUESTIONS:
        assert recorded, f"{door} records nothing"
