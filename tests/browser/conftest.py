"""Chromium for the tests, a live server behind it, and the bundled shop, really crawled.

The browser is the system's own. Without it the tests are skipped by name; with CI=true they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.shop import Shop
from tests.factories import make_groups

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE = {"width": 1440, "height": 900}
PATIENCE = 15_000  # milliseconds, on a machine that does much else besides


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(
        (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
    )
    if program is None:
        reason = "Server not available: Chromium (no chromium on PATH)"
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    # Playwright keeps an event loop in this thread; Django must not take our own statements for its.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        expect.set_options(timeout=PATIENCE)
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(executable_path=program, args=FLAGS)
            yield running
            running.close()
    finally:
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
        else:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


class Visitor:
    """Somebody at the browser. Notes every console error and every request that leaves the server."""

    def __init__(self, context: BrowserContext, home: str) -> None:
        self.context = context
        self.home = home
        self.trouble: list[str] = []
        self.page = context.new_page()
        self._watch(self.page)

    def _watch(self, page: Page) -> None:
        host = urlsplit(self.home).netloc
        page.on("console", lambda m: self.trouble.append(f"console: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: self.trouble.append(f"script: {error}"))
        page.on(
            "request",
            lambda r: (
                self.trouble.append(f"request to {r.url}")
                if urlsplit(r.url).scheme.startswith("http") and urlsplit(r.url).netloc != host
                else None
            ),
        )

    def open(self, path: str) -> Page:
        self.page.goto(self.home + path)
        return self.page

    def sign_in(self, email: str, password: str, *, at: str = "/admin/") -> Page:
        """By keyboard: the log-in page takes the focus to the first box."""
        page = self.open(at)
        page.get_by_label("E-mail").focus()
        page.keyboard.type(email)
        page.keyboard.press("Tab")
        page.keyboard.type(password)
        page.keyboard.press("Enter")
        page.locator("header .avatar").wait_for()
        page.wait_for_load_state("load")
        return page


@pytest.fixture
def visit(browser: Browser, live_server: Any) -> Iterator[Any]:
    """Makes visitors, each with cookies of their own: `visit(dark=True, script=False, width=320)`."""
    contexts: list[BrowserContext] = []

    def make(*, dark: bool = False, script: bool = True, width: int = 0) -> Visitor:
        context = browser.new_context(
            viewport={"width": width, "height": 800} if width else WIDE,
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        return Visitor(context, live_server.url)

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def shop(transactional_db: None, live_server: Any, tmp_path: Path, type_catalogues: None) -> Shop:
    """The bundled shop as a system, with a person for each role."""
    make_groups()
    return Shop(tmp_path / "shop.sqlite3")
