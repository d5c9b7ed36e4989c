"""The screens of the registry, people and the audit log in a browser: accessible, quiet, narrow, and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from aide.accounts.keys import make_key
from aide.audit.models import AuditEntry
from registry.models import CredentialRef, Dataset, DataType, Field
from tests.browser.keys import press
from tests.browser.shop import Shop
from tests.browser.test_every_screen import violations

NARROW = 320


def addresses(shop: Shop) -> dict[str, str]:
    """A page of every sort, with the whole shop in force and its next step under review."""
    shop.grown()
    dataset = Dataset.objects.exclude(current_schema=None).order_by("pk")[0]
    field = Field.objects.filter(dataset=dataset).order_by("pk")[0]
    reference = CredentialRef.objects.create(provider="env", path="SHOP_PASSWORD")
    key, _ = make_key(user=shop.engineer, name="pipeline", scopes=["lineage:write"], by=shop.engineer)  # type: ignore[attr-defined]
    type_id = DataType.objects.get(flavor__code="postgresql", code="numeric").pk
    entry = AuditEntry.objects.filter(action="dataset.publish").order_by("pk")[0]
    table = f"/admin/registry/dataset/{dataset.pk}"
    return {
        "systems": "/admin/registry/system/",
        "system": f"/admin/registry/system/{shop.system.pk}/change/",
        "system form": f"/admin/registry/system/{shop.system.pk}/edit/",
        "datasets": "/admin/registry/dataset/",
        "fields tab": f"{table}/change/",
        "versions tab": f"{table}/change/?tab=versions",
        "crawls tab": f"{table}/change/?tab=crawls",
        "history tab": f"{table}/change/?tab=history",
        "dataset form": f"{table}/edit/",
        "new dataset": "/admin/registry/dataset/add/?kind=kafka",
        "fields": "/admin/registry/field/",
        "column": f"/admin/registry/field/{field.pk}/change/",
        "versions": "/admin/registry/datasetschema/",
        "types": "/admin/registry/datatype/?flavor__id__exact=",
        "type": f"/admin/registry/datatype/{type_id}/change/",
        "flavors": "/admin/registry/systemflavor/",
        "references": "/admin/registry/credentialref/",
        "deleting": f"/admin/registry/credentialref/{reference.pk}/delete/",
        "people": "/admin/accounts/user/",
        "person": f"/admin/accounts/user/{shop.steward.pk}/change/",  # type: ignore[attr-defined]
        "keys": "/admin/accounts/apikey/",
        "key": f"/admin/accounts/apikey/{key.pk}/change/",
        "new key": "/admin/accounts/apikey/add/",
        "audit log": "/admin/audit/auditentry/",
        "audit entry": f"/admin/audit/auditentry/{entry.pk}/change/",
        "search": "/admin/search/?q=customer",
    }


@pytest.mark.slow
def test_registry_screens_are_accessible_and_quiet_in_light_and_dark(visit: Any, shop: Shop) -> None:
    pages = addresses(shop)
    found = {}
    for dark in (False, True):
        visitor = visit(dark=dark)
        visitor.sign_in("admin@example.com", shop.password)
        for name, address in pages.items():
            page = visitor.open(address)
            expect(page.locator("h1")).to_have_count(1)
            if troubles := violations(page):
                found[f"{name}, {'dark' if dark else 'light'}"] = troubles
        assert visitor.trouble == []
    assert found == {}


def test_no_registry_screen_is_wider_than_a_phone(visit: Any, shop: Shop) -> None:
    pages = addresses(shop)
    visitor = visit(width=NARROW)
    visitor.sign_in("admin@example.com", shop.password)
    wide = {}
    for name, address in pages.items():
        width = visitor.open(address).evaluate("document.documentElement.scrollWidth")
        if width > NARROW:
            wide[name] = width
    assert wide == {}


def test_the_shell_works_by_keyboard(visit: Any, shop: Shop) -> None:
    visitor = visit()
    visitor.sign_in("admin@example.com", shop.password)
    page = visitor.open("/admin/registry/system/")
    press(page, "Tab")
    expect(page.locator(":focus")).to_have_text("Skip to main content")
    press(page, "Enter")
    expect(page.locator("main")).to_be_focused()
    page.locator("summary[title=Theme]").focus()
    press(page, "Enter")
    dark = page.get_by_role("button", name="Dark")
    expect(dark).to_be_visible()
    dark.focus()
    with page.expect_response("**/preferences/"):  # it is kept in the background
        press(page, "Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark", timeout=20_000)
    expect(page.locator("summary[title=Theme]")).to_be_focused()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark", timeout=20_000)
    press(page, "Control+k")
    expect(page.get_by_placeholder("Search datasets, fields, systems")).to_be_focused()
    page.locator("summary", has_text="Your account").focus()
    press(page, "Enter")
    page.get_by_role("button", name="Log out").focus()
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_shell_works_without_script(visit: Any, shop: Shop) -> None:
    visitor = visit(script=False, width=NARROW)
    page = visitor.open("/admin/")
    page.get_by_label("E-mail").fill("admin@example.com")
    page.get_by_label("Password").fill(shop.password)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Systems").click()
    expect(page.get_by_role("heading", name="Systems")).to_be_visible()
    page.locator("summary[title=Theme]").click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark", timeout=20_000)
    expect(page.get_by_role("heading", name="Systems")).to_be_visible()


def test_a_viewer_has_the_preview_of_a_type(visit: Any, shop: Shop) -> None:
    type_id = DataType.objects.get(flavor__code="postgresql", code="numeric").pk
    visitor = visit()
    page = visitor.sign_in(
        "viewer@example.com", shop.password, at=f"/admin/registry/datatype/{type_id}/change/"
    )
    page.get_by_label("precision").fill("12")
    page.get_by_label("scale").fill("2")
    expect(page.locator("#preview")).to_have_text("numeric(12,2)")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    assert visitor.trouble == []


def test_a_connection_is_tested_where_one_stands(visit: Any, shop: Shop) -> None:
    address = f"/admin/registry/system/{shop.system.pk}/change/"
    page = visit().sign_in("engineer@example.com", shop.password, at=address)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#tested")).to_contain_text("Connected to sqlite")
