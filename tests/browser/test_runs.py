"""A crawl in the browser: started by hand, watched without a reload, cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from aide_crawler import CrawlError, Progress
from playwright.sync_api import expect

from aide.work.runner import Runner
from crawling.crawl import look
from crawling.models import CrawlRun, Proposal
from tests.browser.shop import Shop


@pytest.fixture
def worker(shop: Shop) -> Iterator[Runner]:
    """The in-process worker, as `serve` starts it."""
    runner = Runner(threads=1, poll_seconds=0.1)
    runner.start()
    yield runner
    runner.stop()


def test_a_crawl_is_started_watched_and_leads_to_its_review(visit: Any, shop: Shop, worker: Runner) -> None:
    visitor = visit()
    page = visitor.sign_in(
        "engineer@example.com", shop.password, at=f"/admin/registry/system/{shop.system.pk}/change/"
    )
    page.get_by_role("button", name="Crawl now").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("of Shop")
    expect(page.get_by_role("status").filter(has_text="Completed")).to_have_count(1)
    expect(page.get_by_role("heading", name="What it found")).to_be_visible()
    page.get_by_role("link", name="Review 29 changes").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review of Shop")
    assert visitor.trouble == []


def test_a_crawl_grows_without_a_reload_and_can_be_cancelled(
    visit: Any, shop: Shop, worker: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source is slow: each step of the look waits until the test lets it go on."""
    go_on = threading.Event()

    def slow_inspect(url: Any, **how: Any) -> Any:
        for done in range(1, 30):
            how["on_progress"](Progress("main", f"t{done}", 0, 1, done, 29))
            if how["should_stop"]():
                raise CrawlError("cancelled", "The run was cancelled; nothing of it was proposed.")
            go_on.wait(0.5)
        raise AssertionError("nobody cancelled")

    monkeypatch.setattr(look, "inspect", slow_inspect)
    monkeypatch.setattr(look.Pulse.__init__, "__kwdefaults__", {"seconds": 0.3})
    visitor = visit()
    page = visitor.sign_in(
        "engineer@example.com", shop.password, at=f"/admin/registry/system/{shop.system.pk}/change/"
    )
    page.get_by_role("button", name="Crawl now").first.click()
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    page.evaluate("window.stillHere = true")
    seen = set()
    for _ in range(20):
        seen.add(page.locator(".progress-line").inner_text())
        if len(seen) >= 3:
            break
        page.wait_for_timeout(700)
    assert len(seen) >= 3, seen
    assert page.evaluate("window.stillHere"), "no reload"

    other = visit()
    there = other.sign_in(
        "admin@example.com", shop.password, at=f"/admin/registry/system/{shop.system.pk}/change/"
    )
    token = there.locator("input[name=csrfmiddlewaretoken]").first.input_value()
    answer = there.request.post(
        other.home + "/admin/crawling/crawlrun/start/",
        form={"system": str(shop.system.pk), "csrfmiddlewaretoken": token},
        headers={"Accept": "text/html", "Referer": other.home},
    )
    assert "one at a time" in answer.text()
    assert "Open run" in answer.text()

    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status").filter(has_text="Cancelled")).to_have_count(1, timeout=15_000)
    polls: list[str] = []
    page.on("request", lambda request: polls.append(request.url) if "/progress/" in request.url else None)
    page.wait_for_timeout(3000)
    assert polls == []
    run = CrawlRun.objects.get()
    assert run.status == CrawlRun.Status.CANCELLED
    assert run.cancel_requested_by == shop.engineer
    assert not Proposal.objects.exists()
    assert visitor.trouble == []
