"""What holds for the screens of the main job, whoever looks: accessible, in light and dark, narrow, and quiet."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from crawling import review
from crawling.models import CrawlRun
from tests.browser.keys import press
from tests.browser.shop import Shop

NARROW = 320


def addresses(run: CrawlRun) -> dict[str, str]:
    base = f"/admin/crawling/crawlrun/{run.pk}"
    return {
        "home": "/admin/",
        "reviews": "/admin/crawling/crawlrun/reviews/",
        "review": f"{base}/review/",
        "second": f"{base}/review/?need=second",
        "finish": f"{base}/review/finish/",
        "result": f"{base}/review/result/",
        "run": f"{base}/change/",
        "runs": "/admin/crawling/crawlrun/",
        "schedules": "/admin/crawling/crawlplan/",
    }


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"]
    ]


def half_decided(shop: Shop) -> CrawlRun:
    """A review in which every state of a row occurs."""
    run = shop.grown()
    proposals = review.proposals_of(run)
    rename = shop.change(run, "rename_field", "phone")
    dropped = shop.change(run, "drop_field", "fax")
    wider = shop.change(run, "change_parameters", "carrier")
    review.decide(
        proposals,
        approve=[rename.pk, wider.pk],
        reject=[review.Rejection(dropped.pk, "No.")],
        by=shop.steward,
    )
    review.apply(proposals, by=shop.steward)
    noted = shop.change(run, "change_nullable", "opened_on")
    table = shop.change(run, "drop_dataset")
    review.decide(
        review.proposals_of(run),
        approve=[noted.pk],
        reject=[review.Rejection(table.pk, "Needed until June.")],
        by=shop.steward,
    )
    return run


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_screens_are_accessible_and_quiet(visit: Any, shop: Shop, dark: bool) -> None:
    run = half_decided(shop)
    visitor = visit(dark=dark)
    page = visitor.open("/admin/login/")
    found = {"log-in": violations(page)}
    visitor.sign_in("approver@example.com", shop.password)
    for name, address in addresses(run).items():
        page = visitor.open(address)
        expect(page.locator("h1")).to_have_count(1)
        found[name] = violations(page)
    page = visitor.open(f"/admin/crawling/crawlrun/{run.pk}/review/")
    page.get_by_role("button", name="Reject").first.click()
    found["reject dialog"] = violations(page)
    engineer = visit(dark=dark)
    found["new schedule"] = violations(
        engineer.sign_in("engineer@example.com", shop.password, at="/admin/crawling/crawlplan/add/")
    )
    assert {name: each for name, each in found.items() if each} == {}
    assert engineer.trouble == []
    assert visitor.trouble == []


def test_no_screen_is_wider_than_a_phone(visit: Any, shop: Shop) -> None:
    run = half_decided(shop)
    visitor = visit(width=NARROW)
    visitor.sign_in("approver@example.com", shop.password)
    wide = {}
    for name, address in addresses(run).items():
        page = visitor.open(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW:
            wide[name] = width
    assert wide == {}
    assert visitor.trouble == []


def test_the_focused_row_is_never_under_the_bar(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    page = visit().sign_in(
        "steward@example.com", shop.password, at=f"/admin/crawling/crawlrun/{run.pk}/review/"
    )
    page.locator(".change").first.focus()
    for _ in range(12):
        press(page, "j")
        hidden = page.evaluate(
            """() => {
              const row = document.activeElement.getBoundingClientRect();
              const bar = document.querySelector(".bottom-bar").getBoundingClientRect();
              const top = document.querySelector("header.top").getBoundingClientRect();
              return row.bottom > bar.top || row.top < top.bottom;
            }"""
        )
        assert not hidden
