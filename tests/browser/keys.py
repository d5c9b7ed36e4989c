"""Keys, pressed as a person does: once the page has its scripts."""

from __future__ import annotations

from playwright.sync_api import Page


def press(page: Page, key: str) -> None:
    """Press a key when the page is loaded whole; a key that comes before its scripts reaches nobody."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)
