"""The cast matrix in a browser: by keyboard, without a script, narrow and dark; a type's preview and its refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from registry.models import DataType
from tests.browser.keys import press
from tests.browser.shop import Shop
from tests.browser.test_every_screen import NARROW, violations

MISSING = "/admin/registry/castrule/matrix/?from=postgresql&to=hive&missing=1"
UNUSED = re.compile("^(inet|money|tsvector)$")


def focused(page: Page) -> str:
    """Where the focus is: the names of the row's and the column's headers."""
    return str(
        page.evaluate(
            """() => {
              const cell = document.activeElement.closest("td");
              if (!cell) return document.activeElement.tagName;
              const heads = cell.closest("table").tHead.rows[0].cells;
              return cell.closest("tr").cells[0].firstChild.textContent + " to " + heads[cell.cellIndex].textContent;
            }"""
        )
    )


def test_a_viewer_finds_what_has_no_cast_by_keyboard(visit: Any, shop: Shop) -> None:
    visitor = visit()
    page = visitor.sign_in("viewer@example.com", shop.password, at=MISSING)
    rows = page.locator("table[data-casts] tbody tr")
    assert sorted(text.split()[0] for text in rows.locator("th").all_inner_texts()) == [
        "inet",
        "money",
        "tsvector",
    ]
    expect(page.locator(".page-sub")).to_contain_text("Missing:")
    expect(page.get_by_role("rowheader", name="inet")).to_be_visible()
    expect(page.get_by_role("columnheader", name="decimal")).to_be_visible()

    for _ in range(80):
        press(page, "Tab")
        if " to " in focused(page):
            break
    start = focused(page)
    assert start.endswith("to Becomes")
    press(page, "Tab")
    assert " to " not in focused(page), "the table is one stop"
    press(page, "Shift+Tab")
    press(page, "ArrowRight")
    press(page, "ArrowDown")
    there = focused(page)
    assert there.split(" to ")[0] != start.split(" to ")[0]
    assert not there.endswith("to Becomes")
    press(page, "Enter")
    panel = page.get_by_role("region", name="The chosen cast")
    expect(panel.get_by_role("heading", level=2)).to_be_visible()
    expect(panel).to_be_focused()
    expect(panel).to_contain_text("none")
    assert page.get_by_text("Add rule").count() == 0
    assert "source=" in page.url
    press(page, "Escape")
    assert focused(page) == there
    expect(panel).to_contain_text("Choose a cell")
    press(page, "End")
    press(page, "Home")
    assert focused(page).endswith("to Becomes")
    assert visitor.trouble == []


def test_the_matrix_works_without_script(visit: Any, shop: Shop) -> None:
    visitor = visit(script=False)
    page = visitor.open(MISSING)
    page.get_by_label("E-mail").fill("viewer@example.com")
    page.get_by_label("Password").fill(shop.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("table[data-casts] tbody tr")).to_have_count(3)
    page.locator("tr", has_text="tsvector").get_by_role("link").nth(2).click()
    panel = page.get_by_role("region", name="The chosen cast")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("tsvector to")
    expect(panel).to_contain_text("none")
    assert page.get_by_text("Add rule").count() == 0


def test_an_engineer_adds_a_rule_from_a_cell(visit: Any, shop: Shop) -> None:
    visitor = visit()
    page = visitor.sign_in("engineer@example.com", shop.password, at=MISSING)
    cell = page.locator("tr[data-type=inet] td:nth-child(n+4)").first.get_by_role("link")
    cell.click()
    page.get_by_role("link", name="Add rule").click()
    expect(page.locator("h1")).to_contain_text("cast rule")
    expect(page.locator("#id_source_data_type")).to_contain_text("inet")
    assert visitor.trouble == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_matrix_is_accessible(visit: Any, shop: Shop, dark: bool) -> None:
    visitor = visit(dark=dark)
    visitor.sign_in("engineer@example.com", shop.password)
    found = {}
    for query in ("", "&missing=1", "&view=list", "&source=numeric&target=decimal"):
        page = visitor.open(f"/admin/registry/castrule/matrix/?from=postgresql&to=hive{query}")
        expect(page.locator("h1")).to_have_count(1)
        found[query] = violations(page)
    assert {query: each for query, each in found.items() if each} == {}
    assert visitor.trouble == []


def test_the_matrix_scrolls_inside_its_region_on_a_phone(visit: Any, shop: Shop) -> None:
    visitor = visit(width=NARROW)
    page = visitor.sign_in("viewer@example.com", shop.password, at=MISSING.replace("&missing=1", ""))
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW


def test_a_types_preview_says_what_is_wrong_without_saving(visit: Any, shop: Shop) -> None:
    """Precision and scale as they are typed, then a template that is broken."""
    numeric = DataType.objects.get(flavor__code="postgresql", code="numeric")
    visitor = visit()
    address = f"/admin/registry/datatype/{numeric.pk}/change/"
    page = visitor.sign_in("engineer@example.com", shop.password, at=address)
    scale = page.locator("#p-scale")
    page.locator("#p-precision").fill("12")
    scale.fill("2")
    expect(page.locator("#preview")).to_have_text("numeric(12,2)")
    expect(scale).not_to_have_attribute("aria-invalid", "true")
    scale.fill("13")
    message = page.locator("#p-scale-error")
    expect(message).to_have_text("scale must not be larger than precision")
    expect(scale).to_have_attribute("aria-invalid", "true")
    expect(scale).to_have_attribute("aria-describedby", "p-scale-error")
    expect(page.locator("#preview")).not_to_contain_text("numeric(12,13)")
    assert violations(page) == []
    scale.fill("4")
    expect(page.locator("#preview")).to_have_text("numeric(12,4)")
    expect(message).to_be_empty()

    page.get_by_label("Template").fill("numeric\n{% if %}")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errorlist").first).to_contain_text("Line 2:")
    expect(page.get_by_label("Template")).to_have_value("numeric\n{% if %}")
    numeric.refresh_from_db()
    assert numeric.row_version == 1
    assert visitor.trouble == []
