"""Renames that people split and pairs that they make: what becomes of the proposal, of notes, and of later crawls."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aide.audit.models import AuditEntry
from aide.core.errors import Conflict, Forbidden, Invalid, NotFound
from crawling import pairing, review
from crawling.models import Change, Comment, CrawlRun, Draft, Pairing, Proposal
from registry.models import Dataset
from registry.reading import document_of
from tests.browser.shop import Shop
from tests.factories import make_groups

CUSTOMERS = "main.sales_customers"


@pytest.fixture
def shop(db: None, tmp_path: Path, type_catalogues: None) -> Shop:
    make_groups()
    return Shop(tmp_path / "shop.sqlite3")


@pytest.fixture
def run(shop: Shop) -> CrawlRun:
    return shop.grown()


def of(proposal: Proposal) -> dict[tuple[str, str], Change]:
    return {(row.op, row.field_path): row for row in proposal.changes.all()}


def alter(shop: Shop, *statements: str) -> None:
    with closing(sqlite3.connect(shop.file)) as source:
        for statement in statements:
            source.execute(statement)
        source.commit()


def test_a_split_rename_is_one_dropped_and_one_added_and_the_rest_stays(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    other = shop.change(run, "drop_field", "fax")
    review.decide([rename.proposal], reject=[review.Rejection(other.pk, "not yet")], by=shop.steward)
    pairing.split(rename.proposal, rename.pk, by=shop.steward)
    rows = of(rename.proposal)
    assert ("rename_field", "phone") not in rows
    assert rows["drop_field", "phone"].paired_by == shop.steward
    assert rows["add_field", "mobile_phone"].paired_by == shop.steward
    assert rows["drop_field", "fax"].pk == other.pk
    assert rows["drop_field", "fax"].paired_by is None
    assert Draft.objects.get(change=other).reason == "not yet"
    entry = AuditEntry.objects.get(action="proposal.split")
    assert (entry.actor, entry.after) == (shop.steward, {"gone": "phone", "new": "mobile_phone"})


def test_a_drop_and_an_add_are_paired_and_applied_as_one_rename(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    proposal = pairing.split(rename.proposal, rename.pk, by=shop.steward)
    rows = of(proposal)
    proposal = pairing.pair(
        proposal, rows["drop_field", "fax"].pk, rows["add_field", "mobile_phone"].pk, by=shop.steward
    )
    rows = of(proposal)
    assert rows["rename_field", "fax"].after == "mobile_phone"
    assert ("drop_field", "phone") in rows
    review.decide([proposal], approve="all", by=shop.steward)
    review.apply([proposal], by=shop.steward)
    review.decide([proposal], approve="all", by=shop.approver)
    outcome = review.apply([proposal], by=shop.approver)
    assert not outcome.failed
    dataset = Dataset.objects.get(name=CUSTOMERS)
    assert dataset.current_schema is not None
    fields = [each["name"] for each in document_of(dataset.current_schema)["fields"]]
    assert "mobile_phone" in fields
    assert not {"fax", "phone"} & set(fields)
    field = dataset.current_schema.bindings.get(name="mobile_phone").field
    assert field.bindings.order_by("pk").first().name == "fax", "its identity goes on"


def test_who_split_it_cannot_be_the_second_person(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    proposal = pairing.split(rename.proposal, rename.pk, by=shop.approver)
    drop = of(proposal)["drop_field", "phone"]
    review.decide([proposal], approve=[drop.pk], by=shop.steward)
    review.apply([proposal], by=shop.steward)
    with pytest.raises(Forbidden, match="You split or paired this") as refused:
        review.decide([proposal], approve=[drop.pk], by=shop.approver)
    assert refused.value.code == "FOUR_EYES_REQUIRED"


def test_a_later_crawl_follows_while_the_source_stays(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    proposal = pairing.split(rename.proposal, rename.pk, by=shop.approver)
    shop.crawl()
    proposal.refresh_from_db()
    assert proposal.status == Proposal.Status.OPEN, "the same difference keeps its proposal"
    alter(shop, "ALTER TABLE sales_customers ADD COLUMN nickname TEXT")
    newer = of(Proposal.objects.get(crawl_run=shop.crawl(), dataset_name=CUSTOMERS))
    assert newer["drop_field", "phone"].paired_by == shop.approver
    assert newer["add_field", "nickname"].paired_by is None
    assert ("rename_field", "phone") not in newer
    alter(shop, "ALTER TABLE sales_customers RENAME COLUMN mobile_phone TO phone")
    shop.crawl()
    assert not Pairing.objects.exists(), "the source went back, and so the word is over"


def test_a_renamed_table_is_split_and_paired_again(shop: Shop, run: CrawlRun) -> None:
    alter(shop, "ALTER TABLE stock_warehouses RENAME TO stock_halls")
    newer = shop.crawl()
    rename = shop.change(newer, "rename_dataset", dataset="stock_warehouses")
    gone = pairing.split(rename.proposal, rename.pk, by=shop.steward)
    drop = gone.changes.get(op="drop_dataset")
    add = Change.objects.get(op="add_dataset", dataset_name="main.stock_halls")
    assert add.proposal.status == Proposal.Status.OPEN
    live = set(Proposal.objects.filter(status="open").values_list("pk", flat=True))
    shop.crawl()
    assert set(Proposal.objects.filter(status="open").values_list("pk", flat=True)) == live
    one = pairing.pair(gone, drop.pk, add.pk, by=shop.steward)
    assert "rename_dataset" in {row.op for row in one.changes.all()}
    add.proposal.refresh_from_db()
    assert (add.proposal.status, add.proposal.superseded_by) == (Proposal.Status.SUPERSEDED, one)
    shop.crawl()
    one.refresh_from_db()
    assert one.status == Proposal.Status.OPEN


def test_what_cannot_be_split_or_paired_is_refused(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    proposal, drop = rename.proposal, shop.change(run, "drop_field", "fax")
    safe = proposal.changes.filter(op="add_field").first()
    assert safe is not None
    with pytest.raises(NotFound):
        pairing.split(proposal, 10**9, by=shop.steward)
    with pytest.raises(Invalid, match="Only a rename can be split"):
        pairing.split(proposal, drop.pk, by=shop.steward)
    with pytest.raises(Invalid, match="Pair a dropped one with an added one"):
        pairing.pair(proposal, safe.pk, drop.pk, by=shop.steward)
    elsewhere = shop.change(run, "add_field", "country_of_origin")
    with pytest.raises(Invalid, match="same dataset"):
        pairing.pair(proposal, drop.pk, elsewhere.pk, by=shop.steward)
    review.decide([proposal], approve=[rename.pk], by=shop.steward)
    review.apply([proposal], by=shop.steward)
    with pytest.raises(Conflict, match="Someone approved this already"):
        pairing.split(proposal, rename.pk, by=shop.approver)


def test_comments_stay_with_what_comes_of_their_change(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    Comment.objects.create(change=rename, person=shop.steward, text="Really?")
    pairing.split(rename.proposal, rename.pk, by=shop.steward)
    comment = Comment.objects.get()
    assert comment.change.proposal == rename.proposal
