"""Every page of the screens, for everybody: what the table forbids is neither shown nor done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django import forms
from django.core.cache import cache
from django.db import transaction
from django.test import Client, override_settings

from aide.audit.models import AuditEntry
from crawling.models import CrawlRun
from tests.security.admin_rules import PAGES
from tests.security.doors import other_doors
from tests.security.matrix import SEE, SESSIONS, Caller
from tests.security.pages import Page
from tests.security.world import MARK, World, build, switch_off, visitors

SAVERS = ("admin", "engineer", "approver")
AWAY = re.compile(r"^/admin/(login/.*)?$")


@dataclass
class Stage:
    """The world with a browser for each caller, and the forms that the pages gave."""

    world: World
    browsers: dict[str, Client]
    given: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def stage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Stage]:
    with (
        django_db_blocker.unblock(),
        override_settings(AIDE_FOUR_EYES="off"),
        transaction.atomic(),
    ):
        cache.clear()
        world = build()
        people = visitors(world)
        browsers = {}
        for caller in SESSIONS:
            browsers[caller.name] = Client(headers={"accept": "text/html"}, raise_request_exception=False)
            user = people[caller.name].user
            if user is not None:
                browsers[caller.name].force_login(user, "aide.accounts.backends.EmailBackend")
        switch_off(people)
        yield Stage(world, browsers, {})
        transaction.set_rollback(True)


@dataclass
class Answer:
    status: int
    text: str
    target: str
    wrote: int

    @property
    def is_away(self) -> bool:
        """Sent to the log-in page or home, as the admin does with whom it does not know."""
        return self.status in {301, 302} and bool(AWAY.match(self.target.partition("?")[0]))


def address_of(route: str, page: Page, world: World) -> str:
    for name, value in (page.path(world) if page.path else {}).items():
        route = re.sub(rf"<(\w+:)?{name}>|\^?\(\?P<{name}>[^)]*\)", str(value), route)
    return "/" + route.removesuffix("$") + page.query


def ask(stage: Stage, caller: Caller, door: str, page: Page) -> Answer:
    """One request, undone afterwards."""
    method, _, route = door.partition(" ")
    address = address_of(route, page, stage.world)
    body = page.body(stage.world) if page.body else {}
    if page.form:
        body = {**form_of(stage, address), **body}
    browser = stage.browsers[caller.name]
    cookies = browser.cookies.copy()
    with transaction.atomic():
        if route.endswith("/cancel/"):
            CrawlRun.objects.filter(pk=stage.world.queued_run.pk).update(status=CrawlRun.Status.QUEUED)
        last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        got = browser.get(address) if method == "GET" else browser.post(address, body)
        text = (b"".join(got.streaming_content) if got.streaming else got.content).decode(errors="replace")
        wrote = AuditEntry.objects.filter(pk__gt=last).count()
        transaction.set_rollback(True)
    browser.cookies = cookies
    return Answer(got.status_code, text, got.headers.get("Location", ""), wrote)


def form_of(stage: Stage, address: str) -> dict[str, Any]:
    """What a browser would post from this page; nothing where nobody is given a form."""
    if address not in stage.given:
        stage.given[address] = {}
        for name in SAVERS:
            with transaction.atomic():
                got = stage.browsers[name].get(address)
                found = got.context["adminform"].form if got.status_code == 200 and got.context else None
                if found is not None and found.fields:
                    stage.given[address] = posted(found)
                transaction.set_rollback(True)
            if stage.given[address]:
                break
    return stage.given[address]


def posted(form: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for bound in form:
        value = bound.value()
        if isinstance(bound.field.widget, forms.CheckboxInput):
            value = "on" if value else None
        elif isinstance(value, (list, tuple)):
            value = [getattr(each, "pk", each) for each in value]
        if value is not None:
            values[bound.html_name] = value
    return values


def faults_of(door: str, page: Page, caller: Caller, answer: Answer) -> str:
    """What is wrong with an answer; empty when it is as the table says."""
    where = f"{door} {page.name} by {caller.name}: {answer.status} {answer.target}"
    if page.rule.lets_in(caller) and (caller.opens_screens or page.rule.open_to == "anyone"):
        good = answer.status in ({302, 303} if page.form else {200, 286, 302})
        if page.form and answer.status == 200 and "aide_" in answer.text:
            good = True  # a key's secret, shown once
        if not good or (answer.is_away and not page.rule.open_to):
            errors = re.findall(r'class="(?:errorlist|errornote)[^>]*>(.*?)</', answer.text, re.DOTALL)[:5]
            return f"{where}, but it is allowed {errors}"
        if page.rule.rows and MARK in answer.text and not page.rule.shows(caller):
            return f"{where} shows rows that are not theirs"
        return ""
    given_back = page.may_err and answer.status == 200 and "errorlist" in answer.text
    if not (answer.status in {403, 404} or answer.is_away or given_back):
        return f"{where}, but it is forbidden"
    if answer.status == 403 and not caller.opens_screens:
        return f"{where}, but they are led to the log-in page"
    if MARK in answer.text and not caller.holds(SEE, here=True):
        return f"{where} shows what it refuses"
    if answer.wrote:
        return f"{where} has written to the audit log"
    return ""


def known_routes() -> set[str]:
    return {door.partition(" ")[2] for door in PAGES}


def test_every_page_has_a_rule() -> None:
    routes = {plain(route) for route in other_doors()}
    assert sorted(routes - known_routes()) == [], "pages without a rule in tests/security/admin_rules.py"
    assert sorted(known_routes() - routes) == [], "rules of pages that are gone"


def plain(route: str) -> str:
    """The page of an app's tables is one door, whatever the apps are."""
    return re.sub(r"(\^\(\?P<app_label>)[^)]*\)", r"\1APPS)", route)


@pytest.mark.django_db
@pytest.mark.parametrize("door", sorted(PAGES))
def test_the_table_is_kept(door: str, stage: Stage) -> None:
    faults, recorded = [], 0
    for page in PAGES[door]:
        for caller in SESSIONS:
            answer = ask(stage, caller, door, page)
            faults.append(faults_of(door, page, caller, answer))
            recorded += answer.wrote
    assert [fault for fault in faults if fault] == []
    page = PAGES[door][0]
    if door.startswith("POST ") and not page.rule.open_to and not page.quiet:
        assert recorded, f"{door} records nothing"
