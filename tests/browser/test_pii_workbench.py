"""The PII workbench in a browser: decided by keyboard and without scripts, accessible in light, dark and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from aide.accounts.models import User
from registry import tagging
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.browser.keys import press
from tests.browser.test_every_screen import violations
from tests.factories import PASSWORD, make_dataset, make_system, make_user, publish

WORKBENCH = "/admin/registry/fieldtag/workbench/"
GROUP = "kind_x~rule~kind.rule"


@pytest.fixture
def steward(transactional_db: None, live_server: Any) -> User:
    """Five suggestions in two groups: one column only by its name, one by lineage, and decided ones."""
    system = make_system("pg-crm", name="Customer relations")
    user = make_user("steward", email="steward@example.com", full_name="Sam Steward")
    user.systems.add(system)  # type: ignore[attr-defined]
    dataset = make_dataset("customers", system=system, status=Dataset.Status.ACTIVE)
    publish(dataset, *((f"c{n}", "text") for n in range(7)))
    columns = list(Field.objects.filter(dataset=dataset).order_by("pk"))
    tags = [PIITag.objects.create(code=f"kind_{each}", name=each, sensitivity=2) for each in "xy"]
    for place, column in enumerate(columns[:4]):
        FieldTag.objects.create(
            field=column, tag=tags[0], state="suggested", origin="rule", rule="kind.rule", rule_version="1",
            confidence=0.95 - place / 100, evidence="The name says so.", name_only=place == 3,
            native_type="text", since=timezone.now(),
        )  # fmt: skip
    FieldTag.objects.create(
        field=columns[4], tag=tags[1], state="suggested", origin="lineage", rule="lineage", rule_version="1",
        confidence=0.92, evidence="Its values come from crm/public.a.b.", path=["crm/public.a.b", "crm/public.c.d"],
        returned="Someone said no.", batch="b1", since=timezone.now(),
    )  # fmt: skip
    asked = tagging.confirm(columns[5], tags[0], by=user)
    tagging.remove(asked, by=user, reason="A test table")
    refused = FieldTag.objects.create(
        field=columns[6],
        tag=tags[0],
        state="suggested",
        origin="rule",
        rule="kind.rule",
        since=timezone.now(),
    )
    tagging.reject(refused, reason="A ship", by=user)
    return user


def test_groups_and_rows_are_decided_by_keyboard_alone(visit: Any, steward: User) -> None:
    visitor = visit()
    visitor.sign_in(steward.email, PASSWORD)
    page = visitor.open(WORKBENCH)
    group = page.get_by_test_id("group-kind_x")
    expect(page.locator("#pii-total")).to_contain_text("5 suggestions to decide")
    group.focus()
    press(page, "Enter")
    rows = page.locator(".sugg")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_be_focused()
    press(page, "a")
    expect(rows.nth(1)).to_be_focused()
    expect(rows.nth(0).locator(".standing")).to_have_text("Accepted by you.")
    press(page, "r")
    press(page, "1")
    expect(rows.nth(1).locator(".standing")).to_have_text("Rejected by you.")
    expect(rows.nth(2)).to_be_focused()
    expect(rows.nth(1).get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator("#pii-total")).to_have_text("3 suggestions to decide")
    press(page, "Shift+A")
    expect(page.locator(".group-said").first).to_have_text("1 accepted, 1 left for you")
    expect(page.locator(".sugg")).to_have_count(1)
    expect(page.get_by_test_id("group-kind_y")).to_be_focused()
    press(page, "k")
    press(page, "r")
    press(page, "2")
    page.get_by_label("The right tag").select_option("kind_y")
    page.get_by_role("dialog").get_by_role("button", name="Reject").click()
    expect(page.locator(".sugg .standing")).to_have_text("Changed by you to kind_y.")
    expect(page.locator("#save-state")).to_contain_text("is kind_y, not kind_x.")
    states = FieldTag.objects.filter(until=None, field__name__in=["c0", "c1", "c2", "c3"])
    found = sorted(states.values_list("field__name", "tag__code", "state"))
    assert found == [
        ("c0", "kind_x", "confirmed"), ("c1", "kind_x", "rejected"), ("c2", "kind_x", "confirmed"),
        ("c3", "kind_x", "rejected"), ("c3", "kind_y", "confirmed"),
    ]  # fmt: skip
    assert visitor.trouble == []


def test_it_works_without_scripts(visit: Any, steward: User) -> None:
    visitor = visit(script=False)
    visitor.sign_in(steward.email, PASSWORD)
    page = visitor.open(WORKBENCH)
    page.get_by_role("link", name="Open kind_x").click()
    page.get_by_role("button", name="Reject kind_x on c0").click()
    page.get_by_label("Not personal data").check()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Rejected kind_x on c0.")).to_be_visible()
    page.get_by_role("button", name="Accept 2 of kind_x").click()
    expect(page.get_by_text("2 accepted, 1 left for you")).to_be_visible()
    assert visitor.trouble == []


@pytest.mark.slow
def test_every_tab_is_accessible_and_quiet_in_light_dark_and_narrow(visit: Any, steward: User) -> None:
    tabs = ["", f"?open={GROUP}", "?tab=accepted", "?tab=removals", "?tab=rejected", "?tab=coverage"]
    found = {}
    for name, how in (("light", {}), ("dark", {"dark": True}), ("narrow", {"width": 320})):
        visitor = visit(**how)
        visitor.sign_in(steward.email, PASSWORD)
        for tab in tabs:
            page = visitor.open(WORKBENCH + tab)
            expect(page.locator("h1")).to_have_count(1)
            if name == "narrow":
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > 320:
                    found[f"{tab}, {name}"] = [f"{wide} pixels"]
            elif troubles := violations(page):
                found[f"{tab}, {name}"] = troubles
        page = visitor.open("/admin/registry/piirule/")
        if name != "narrow" and (troubles := violations(page)):
            found[f"rules, {name}"] = troubles
        assert visitor.trouble == []
    assert found == {}
