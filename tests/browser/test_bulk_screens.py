"""Changing many columns in a browser: few steps, accessible, narrow, and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from registry.models import Field, FieldTag, PIITag
from tests.browser.shop import Shop
from tests.browser.test_every_screen import NARROW, violations

FIELDS = "/admin/registry/field/"


@pytest.fixture
def columns(shop: Shop) -> int:
    """How many columns hold an "e" in their name, with a kind of personal data to tag them by."""
    shop.grown()
    PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail address", "sensitivity": 2})
    return Field.objects.filter(name__icontains="e", retired_at=None).count()


def test_all_that_match_are_tagged_in_few_steps_and_undone(visit: Any, shop: Shop, columns: int) -> None:
    visitor = visit()
    page = visitor.sign_in("steward@example.com", shop.password, at=FIELDS)
    found = {"list": violations(page)}
    page.get_by_label("Search fields").fill("e")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="that match q=e").click()
    found["selection"] = violations(page)
    page.get_by_role("group", name="Add personal-data tags").get_by_label("E-mail address").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("status").filter(has_text="will change")).to_be_visible()
    found["preview"] = violations(page)
    page.get_by_role("button", name="Apply to").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Tagged")
    found["result"] = violations(page)
    tagged = FieldTag.objects.filter(tag__code="email", state="confirmed", until=None)
    assert tagged.count() >= 1
    page.get_by_role("button", name="Undo this batch").click()
    expect(page.get_by_text("as before")).to_be_visible()
    assert tagged.count() == 0
    found["batches"] = violations(visitor.open("/admin/bulk/batches/"))
    assert {name: each for name, each in found.items() if each} == {}
    assert visitor.trouble == []


def test_marking_a_page_says_how_many_and_needs_no_script(visit: Any, shop: Shop, columns: int) -> None:
    visitor = visit(dark=True)
    page = visitor.sign_in("approver@example.com", shop.password, at=FIELDS)
    page.get_by_label("Select all on this page").check()
    shown = page.locator("#result_list .mark").count()
    expect(page.get_by_role("button", name="Change the marked")).to_contain_text(f"({shown})")
    plain = visit(script=False)
    page = plain.sign_in("approver@example.com", shop.password, at=FIELDS)
    expect(page.locator("#mark-all")).to_be_hidden()
    page.locator("#result_list .mark").first.check()
    page.get_by_role("button", name="Change the marked").click()
    page.get_by_label("Set owner").fill("Sales")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply to 1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Changed 1")
    assert Field.objects.filter(owner="Sales").count() == 1


def test_the_pages_are_no_wider_than_a_phone_in_the_dark(visit: Any, shop: Shop, columns: int) -> None:
    visitor = visit(width=NARROW, dark=True)
    page = visitor.sign_in("approver@example.com", shop.password, at=FIELDS)
    found, wide = {}, {}

    def look(name: str) -> None:
        found[name] = violations(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW:
            wide[name] = width

    field = Field.objects.filter(retired_at=None).first()
    assert field is not None
    look("list")
    page.get_by_role("button", name="Select all").click()
    look("selection")
    page.get_by_label("Set owner").fill("Sales")
    page.get_by_role("button", name="Preview").click()
    look("preview")
    for name, address in {
        "upload": f"{FIELDS}upload/",
        "line": f"{FIELDS}{field.pk}/line/",
        "column": f"{FIELDS}{field.pk}/change/",
        "table": f"/admin/registry/dataset/{field.dataset_id}/change/?edit={field.pk}",
        "audit": "/admin/audit/auditentry/?days=90",
        "evidence": "/admin/audit/evidence/",
    }.items():
        visitor.open(address)
        look(name)
    visitor.open("/admin/audit/auditentry/")
    page.get_by_text("Date:").click()
    look("dates")
    assert {name: each for name, each in found.items() if each} == {}
    assert wide == {}
    assert visitor.trouble == []
