"""The screens of lineage, events and the outbox in a browser: accessible, quiet and narrow, with data in them."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.http import urlencode
from playwright.sync_api import expect

from lineage import events
from lineage.models import Event, NodeName, OutboxMessage
from registry.connections import set_namespaces
from registry.models import Dataset
from tests.browser.shop import Shop
from tests.browser.test_every_screen import violations
from tests.lineage.events import columns, run_event, send
from tests.lineage.events import dataset as told

NARROW = 320
LONG = "warehouse.a_schema_with_a_very_long_name.a_table_whose_name_goes_on_and_on_without_any_place_to_break"


def addresses(shop: Shop) -> dict[str, str]:
    """A page of every sort, with pipelines that have told of the shop's tables and of others."""
    run = shop.grown()
    orders = Dataset.objects.get(name="main.sales_orders")
    space = f"sqlite://{shop.file}"
    set_namespaces(shop.system, [space])
    known = told("main.sales_orders", space)
    flow = {"outputs": [told("lake.orders", columnLineage=columns(total=[("lake.raw", "total")]))]}
    send(
        run_event(run=1, job="copy_orders", reads=[known, "lake.raw"], **flow),
        run_event(run=2, job="build_report", reads=["lake.orders"], writes=["lake.report", LONG]),
        run_event(run=3, job="back", reads=["lake.report"], writes=[known]),
    )
    metrics = {"run_id": "r1", "learning_rate": "0.01", "accuracy": "0.93", "records": "1200"}
    events.accept(
        [
            {"resource": "main.sales_orders", "subject": "nightly", "action": "LOAD_STARTED", **more}
            for more in ({}, {"additionalValues": metrics})
        ]
        + [
            {
                "resource": "main.sales_orders",
                "subject": "nightly",
                "action": "LOAD_COMPLETED",
                "additionalValues": metrics,
            },
            {
                "resource": LONG,
                "subject": "x" * 200,
                "action": "y" * 200,
                "additionalValues": {"k" * 90: "v" * 400},
            },
            {"resource": "", "subject": "", "action": ""},
        ]
    )
    OutboxMessage.objects.filter(kind="metadata").update(status="dead", last_error="The topic is not there.")
    event = Event.objects.filter(action="LOAD_COMPLETED").get()
    strange = Event.objects.get(resource=LONG)
    message = OutboxMessage.objects.filter(kind="metadata").order_by("pk")[0]
    free, taken = NodeName.objects.get(name=LONG), NodeName.objects.get(name="main.sales_orders")
    start = f"/admin/lineage/explore/?dataset={orders.pk}"
    other = f"/admin/lineage/explore/?{urlencode({'namespace': free.namespace, 'name': LONG})}"
    table = f"/admin/registry/dataset/{orders.pk}/change/"
    return {
        "where to begin": "/admin/lineage/explore/",
        "looked for": "/admin/lineage/explore/?q=orders",
        "nothing found": "/admin/lineage/explore/?q=nothing-like-it",
        "list": f"{start}&dir=both",
        "columns": f"{start}&level=column",
        "list of a name": f"{other}&dir=up",
        "nothing known": f"{other}&dir=down",
        "drawing": f"{start}&view=drawing&dir=both",
        "names": "/admin/lineage/nodename/",
        "free name": f"/admin/lineage/nodename/{free.pk}/change/?q=orders",
        "known name": f"/admin/lineage/nodename/{taken.pk}/change/",
        "events": "/admin/lineage/event/",
        "event": f"/admin/lineage/event/{event.pk}/change/",
        "strange event": f"/admin/lineage/event/{strange.pk}/change/",
        "sessions": "/admin/lineage/sessions/?resource=main.sales_orders",
        "no session": "/admin/lineage/sessions/",
        "quality": "/admin/lineage/quality/",
        "outbox": "/admin/lineage/outboxmessage/",
        "message": f"/admin/lineage/outboxmessage/{message.pk}/change/",
        "lineage tab": f"{table}?tab=lineage",
        "events tab": f"{table}?tab=events",
        "review": f"/admin/crawling/crawlrun/{run.pk}/review/",
    }


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_lineage_screens_are_accessible_and_quiet(visit: Any, shop: Shop, dark: bool) -> None:
    pages = addresses(shop)
    visitor = visit(dark=dark)
    visitor.sign_in("admin@example.com", shop.password)
    found = {}
    for name, address in pages.items():
        page = visitor.open(address)
        expect(page.locator("h1")).to_have_count(1)
        if troubles := violations(page):
            found[name] = troubles
    assert found == {}
    assert visitor.trouble == []


def test_no_lineage_screen_is_wider_than_a_phone(visit: Any, shop: Shop) -> None:
    pages = addresses(shop)
    visitor = visit(width=NARROW)
    visitor.sign_in("admin@example.com", shop.password)
    wide = {}
    for name, address in pages.items():
        width = visitor.open(address).evaluate("document.documentElement.scrollWidth")
        if width > NARROW:
            wide[name] = width
    assert wide == {}


def test_one_walks_through_lineage_by_clicking(visit: Any, shop: Shop) -> None:
    addresses(shop)
    page = visit().sign_in("engineer@example.com", shop.password, at="/admin/lineage/explore/")
    page.get_by_role("link", name="lake.orders").click()
    page.get_by_role("link", name="lake.report").click()
    expect(page.locator("h1")).to_contain_text("lake.report")
    page.get_by_role("link", name="Drawing").click()
    page.get_by_role("link", name="main.sales_orders").click()
    expect(page.locator("h1")).to_contain_text("main.sales_orders")
