"""How often the screens ask the database, and how much they send: the budgets, asserted on warm pages."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crawling import review
from crawling.models import CrawlRun
from registry.models import Dataset, System
from tests.admin.conftest import Screen
from tests.browser.shop import Shop
from tests.factories import make_dataset, make_groups, make_system, publish
from tests.reviews import make_review

LISTS = (
    "crawling_reviews", "registry_system_changelist", "registry_dataset_changelist", "registry_field_changelist",
    "crawling_crawlplan_changelist", "crawling_crawlrun_changelist", "registry_datatype_changelist",
    "registry_systemflavor_changelist", "registry_systemkind_changelist", "audit_auditentry_changelist",
)  # fmt: skip
OF_THE_TEST = ("SAVEPOINT", "RELEASE", "ROLLBACK")


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """Fails with the statements where more are asked."""
    with CaptureQueriesContext(connection) as queries:
        yield
    asked = [each["sql"] for each in queries if not each["sql"].startswith(OF_THE_TEST)]
    assert len(asked) <= most, "\n".join(each[:200] for each in asked)


def warm(client: Screen, url: str, query: dict[str, str] | None = None, *, most: int) -> str:
    """The page, asked for a second time within the budget."""
    for _ in range(2):
        assert client.get(url, query or {}).status_code == 200
    with at_most(most):
        return client.get(url, query or {}).content.decode()


def weigh(page: str, *, kib: int, nodes: int) -> None:
    size = len(gzip.compress(page.encode(), 6)) / 1024
    count = len(re.findall(r"<[a-z]", page))
    assert (size <= kib, count <= nodes) == (True, True), f"{size:.1f} KiB, {count} nodes"


@pytest.fixture
def shop(db: None, tmp_path: Path, type_catalogues: None) -> Shop:
    make_groups()
    return Shop(tmp_path / "shop.sqlite3")


@pytest.fixture
def run(shop: Shop) -> CrawlRun:
    return shop.grown()


def test_a_review_and_its_decisions(shop: Shop, run: CrawlRun) -> None:
    client, url = Screen(shop.steward), reverse("admin:crawling_review", args=[run.pk])
    warm(client, url, most=8)
    decide = reverse("admin:crawling_review_decide", args=[run.pk])
    json = {"accept": "application/json"}
    change = shop.change(run, "add_field", "country_of_origin")
    for values in ({"approve": change.pk}, {"undo": change.pk}, {"reject": change.pk, "why": "temporary"}):
        with at_most(6):
            assert client.post(decide, values, headers=json).json()["ok"]


def test_a_review_that_waits_for_a_second_person(shop: Shop, run: CrawlRun) -> None:
    proposals = review.proposals_of(run)
    review.decide(proposals, approve="all", by=shop.steward)
    review.apply(proposals, by=shop.steward)
    url = reverse("admin:crawling_review", args=[run.pk])
    # One more than an open one: the documents of the datasets that moved on, and who decided.
    warm(Screen(shop.steward), url, most=9)
    approver = Screen(shop.approver)
    warm(approver, url, {"need": "second"}, most=9)
    rename = shop.change(run, "rename_field", "phone")
    decide = reverse("admin:crawling_review_decide", args=[run.pk])
    with at_most(7):  # who was the first, too
        answer = approver.post(decide, {"approve": rename.pk}, headers={"accept": "application/json"})
    assert answer.json()["ok"]


def test_home_and_every_list(shop: Shop, run: CrawlRun) -> None:
    for person in (shop.steward, shop.engineer, shop.admin):
        client = Screen(person)
        warm(client, reverse("admin:index"), most=12)
        for name in LISTS:
            if client.get(reverse(f"admin:{name}")).status_code == 200:
                warm(client, reverse(f"admin:{name}"), most=10)


def wide_dataset(columns: int = 500) -> Dataset:
    dataset = make_dataset("wide", system=make_system("pg-wide"), status=Dataset.Status.ACTIVE)
    publish(dataset, *((f"column_{n}", "varchar(40)") for n in range(columns)))
    publish(
        dataset, *((f"column_{n}", "varchar(60)" if n % 25 == 0 else "varchar(40)") for n in range(columns))
    )
    dataset.refresh_from_db()
    return dataset


def test_a_dataset_of_500_columns_and_the_comparison_of_its_versions(screen: Callable[..., Screen]) -> None:
    url = reverse("admin:registry_dataset_change", args=[wide_dataset().pk])
    client = screen("viewer")
    weigh(warm(client, url, most=15), kib=50, nodes=7_000)
    weigh(warm(client, url, {"tab": "versions"}, most=8), kib=40, nodes=6_000)


@pytest.mark.parametrize(("changes", "kib", "nodes"), [(37, 15, 1_500), (500, 40, 8_500)])
def test_a_review_of_some_size(
    changes: int, kib: int, nodes: int, screen: Callable[..., Screen], system: System
) -> None:
    run = make_review(system, datasets=12 if changes == 37 else 60, changes=changes)
    url = reverse("admin:crawling_review", args=[run.pk])
    page = warm(screen("steward", systems=(system,)), url, most=8)
    assert page.count('class="change"') == changes
    weigh(page, kib=kib, nodes=nodes)


def test_a_long_review_shows_25_datasets_a_page_and_folds_what_is_safe(
    screen: Callable[..., Screen], system: System
) -> None:
    run = make_review(system, datasets=60, changes=1_200, new=100)
    client = screen("steward", systems=(system,))
    url = reverse("admin:crawling_review", args=[run.pk])
    page = warm(client, url, most=8)
    assert page.count("<section") == 25
    assert "Next 25 datasets" in page
    assert 'data-risk="safe"' not in page
    weigh(page, kib=40, nodes=8_500)
    opened = re.search(r'href="(\?dataset=\d+&amp;risk=safe)" data-open', page)
    assert opened is not None
    rows = client.get(url + opened[1].replace("&amp;", "&") + "&rows=1").content.decode()
    assert set(re.findall(r'data-risk="(\w+)"', rows)) == {"safe"}
    last = warm(client, url, {"start": "150"}, most=8)
    assert last.count(">Table added<") == 10
    assert "Next" not in last.split('id="review"')[1]
    approved: Any = client.post(
        reverse("admin:crawling_review_decide", args=[run.pk]),
        {"safe": "new"},
        headers={"accept": "application/json"},
    ).json()
    assert len(approved["ids"]) == 100, "also those of other pages"
