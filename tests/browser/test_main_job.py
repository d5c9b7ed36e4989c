"""The main job in the browser, by keyboard alone: two people bring a crawl's findings into the registry."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from crawling.models import Change, Decision
from registry.models import Dataset
from tests.browser.keys import press
from tests.browser.shop import Shop

State = Change.State


def focus_by_tab(page: Page, name: str, *, most: int = 90) -> None:
    """Press Tab until the link or button of that name has the focus."""
    for _ in range(most):
        press(page, "Tab")
        text = page.evaluate("document.activeElement ? document.activeElement.innerText || '' : ''")
        if " ".join(text.split()).startswith(name):
            return
    raise AssertionError(f"no way to {name} by Tab")


def enter(page: Page) -> None:
    """Press Enter on what leads to another page, and wait for it."""
    with page.expect_navigation():
        press(page, "Enter")


def follow(page: Page, name: str) -> None:
    focus_by_tab(page, name)
    enter(page)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.dataset.testid || document.activeElement.tagName"))


def to_row(page: Page, change: Change) -> None:
    """Move down from the focused row to this one."""
    for _ in range(40):
        if focused(page) == f"change-{change.pk}":
            return
        press(page, "j")
    raise AssertionError(f"no row of change {change.pk} below")


def saved(page: Page, words: str) -> None:
    expect(page.locator("#save-state")).to_have_text(words)


def test_two_people_review_a_crawl_by_keyboard_alone(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    rename = shop.change(run, "rename_field", "phone")
    dropped = shop.change(run, "drop_field", "fax")
    risky = Change.objects.get(proposal__crawl_run=run, risk="risky", op="change_nullable")
    total = Change.objects.filter(proposal__crawl_run=run).count()
    safe = Change.objects.filter(proposal__crawl_run=run, risk="safe").count()

    first = visit()
    page = first.sign_in("steward@example.com", shop.password)
    follow(page, "Review")  # the navigation's Reviews, or the card's button
    follow(page, "Review Shop")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review of Shop")
    expect(page.locator("#progress-words")).to_have_text(f"0 of {total} decided")

    # Into the rows: one stop for all of them, the first that needs somebody.
    for _ in range(60):
        press(page, "Tab")
        if focused(page).startswith("change-"):
            break
    to_row(page, rename)
    press(page, "a")
    expect(page.get_by_test_id(f"change-{rename.pk}")).to_contain_text(
        "Approved by you. A second person must confirm."
    )
    to_row(page, dropped)
    press(page, "r")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.type("Pla")
    press(page, "Tab")
    page.keyboard.type("the fax stays until June")
    press(page, "Tab")
    press(page, "Tab")
    focus_by_tab(page, "Reject")
    press(page, "Enter")
    expect(page.get_by_test_id(f"change-{dropped.pk}")).to_contain_text(
        "Rejected by you: Planned, but not agreed: the fax stays until June"
    )
    assert focused(page).startswith("change-"), "the focus went on to the next row"
    to_row(page, risky)
    press(page, "a")
    saved(page, "3 decisions noted, not applied yet.")
    focus_by_tab(page, "Approve the remaining")
    press(page, "Enter")
    saved(page, f"{safe + 3} decisions noted, not applied yet.")
    expect(page.get_by_role("button", name="safe here")).to_have_count(0)
    expect(page.locator("#progress-words")).to_have_text(f"{safe + 3} of {total} decided")
    assert not Decision.objects.filter(change__proposal__crawl_run=run).exists(), "nothing before Finish"

    assert page.evaluate("document.activeElement.innerText") == "Finish review…"
    enter(page)
    left = total - safe - 3
    expect(page.get_by_test_id("outlook")).to_have_text(
        f"Apply {safe + 1} now · 1 waits for a second person · 1 rejected · {left} undecided"
    )
    enter(page)  # Apply has the focus
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{safe + 1} changes applied")
    expect(page.get_by_role("region", name="Datasets with new versions")).to_contain_text(
        "main.sales_shipments"
    )
    rename.refresh_from_db()
    dropped.refresh_from_db()
    assert (rename.state, dropped.state) == (State.WAITING, State.REJECTED)
    assert first.trouble == []

    # The first person sees words in place of a button.
    page = first.open(f"/admin/crawling/crawlrun/{run.pk}/review/?need=second")
    row = page.get_by_test_id(f"change-{rename.pk}")
    expect(row).to_contain_text("Approved by you. A second person must confirm (Approver).")
    expect(row.get_by_role("button", name="Confirm")).to_have_count(0)

    second = visit()
    page = second.sign_in("approver@example.com", shop.password)
    follow(page, "Confirm")
    follow(page, "Confirm Shop")
    follow(page, "Confirm 1")
    expect(page.get_by_test_id("outlook")).to_contain_text("Apply 1 now")
    enter(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("1 change applied")
    follow(page, "Version 3")
    expect(page.get_by_role("heading", level=1)).to_contain_text("main.sales_customers")
    customers = Dataset.objects.get(name="main.sales_customers")
    names = set(customers.fields.filter(retired_at__isnull=True).values_list("name", flat=True))
    assert {"mobile_phone", "fax", "preferred_language"} <= names
    assert "phone" not in names
    people = Decision.objects.filter(change=rename).order_by("order").values_list("person__email", flat=True)
    assert list(people) == ["steward@example.com", "approver@example.com"]
    assert second.trouble == []


def test_a_decision_can_be_taken_back_and_the_page_says_when_it_is_not_saved(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    change = shop.change(run, "add_field", "country_of_origin")
    visitor = visit()
    page = visitor.sign_in(
        "steward@example.com", shop.password, at=f"/admin/crawling/crawlrun/{run.pk}/review/"
    )
    row = page.get_by_test_id(f"change-{change.pk}")
    row.focus()
    press(page, "a")
    expect(row).to_contain_text("Approved by you.")
    press(page, "k")
    saved(page, "1 decision noted, not applied yet.")
    row.focus()
    press(page, "u")
    saved(page, "Nothing is applied until you finish.")
    expect(row.get_by_role("button", name="Approve")).to_be_visible()

    page.route("**/decide/", lambda route: route.abort())
    row.focus()
    press(page, "a")
    expect(page.locator("#save-state")).to_contain_text("Not saved. The server cannot be reached")
    expect(row).to_have_attribute("data-state", "open")
    assert focused(page) == f"change-{change.pk}"


def test_an_error_of_the_server_leaves_open_whether_it_was_saved(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    page = visit().sign_in(
        "steward@example.com", shop.password, at=f"/admin/crawling/crawlrun/{run.pk}/review/"
    )
    page.route(
        "**/decide/",
        lambda route: route.fulfill(
            status=500, content_type="application/problem+json", body='{"detail": "Nothing was saved."}'
        ),
    )
    page.locator(".change button[name='approve']:visible").first.click()
    saved(page, "It may not have been saved. Reload the page to see.")


def test_a_change_that_needs_another_says_so_by_its_name(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    rename = shop.change(run, "rename_field", "phone")
    other = shop.change(run, "add_field", "preferred_language")
    other.requires.add(rename)
    page = visit().sign_in(
        "steward@example.com", shop.password, at=f"/admin/crawling/crawlrun/{run.pk}/review/"
    )
    row = page.get_by_test_id(f"change-{other.pk}")
    row.focus()
    press(page, "a")
    expect(page.locator("#save-state")).to_contain_text(
        "This needs another change first: Column renamed: main.sales_customers, phone."
    )
    expect(row).to_have_attribute("data-state", "open")
    page.get_by_role("button", name="Approve the remaining").click()
    expect(row).to_have_attribute("data-state", "open")


def test_the_review_works_without_script(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    kept = shop.change(run, "add_field", "country_of_origin")
    refused = shop.change(run, "drop_dataset")
    visitor = visit(script=False)
    page = visitor.sign_in(
        "steward@example.com", shop.password, at=f"/admin/crawling/crawlrun/{run.pk}/review/"
    )
    page.get_by_test_id(f"change-{kept.pk}").get_by_role("button", name="Approve").click()
    expect(page.get_by_test_id(f"change-{kept.pk}")).to_contain_text("Approved by you.")
    page.get_by_test_id(f"change-{refused.pk}").get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reject a change")
    page.get_by_label("Why").select_option("other")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("body")).to_contain_text("Say what the other reason is.")
    page.get_by_label("In your words").fill("It is still needed.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_test_id(f"change-{refused.pk}")).to_contain_text(
        "Rejected by you: It is still needed."
    )
    page.get_by_role("button", name="Approve the remaining").click()
    page.get_by_role("link", name="Finish review").click()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("changes applied")
    kept.refresh_from_db()
    assert kept.state == State.APPLIED


def test_a_rename_is_discussed_split_and_paired_by_keyboard(visit: Any, shop: Shop) -> None:
    run = shop.grown()
    rename = shop.change(run, "rename_field", "phone")
    first = visit()
    address = f"/admin/crawling/crawlrun/{run.pk}/review/"
    page = first.sign_in("steward@example.com", shop.password, at=address)
    page.get_by_test_id(f"change-{rename.pk}").focus()
    press(page, "c")
    page.keyboard.type("Are these the same numbers?")
    focus_by_tab(page, "Comment")
    press(page, "Enter")
    expect(page.get_by_role("list", name="Comments")).to_contain_text("Steward Are these the same numbers?")
    assert focused(page) == f"change-{rename.pk}"
    with page.expect_navigation():
        press(page, "s")
    expect(page.get_by_role("status").first).to_contain_text(
        "Split: phone is dropped, mobile_phone is added."
    )
    dropped = shop.change(run, "drop_field", "phone")
    expect(page.get_by_test_id(f"change-{dropped.pk}")).to_be_focused()
    expect(page.get_by_test_id(f"change-{dropped.pk}")).to_contain_text("Are these the same numbers?")
    with page.expect_navigation():
        press(page, "s")
    page.get_by_role("radio", name="mobile_phone").focus()
    press(page, "Space")
    follow(page, "Pair them")
    again = shop.change(run, "rename_field", "phone")
    expect(page.get_by_test_id(f"change-{again.pk}")).to_be_focused()
    assert again.paired_by == shop.steward
    assert first.trouble == []
