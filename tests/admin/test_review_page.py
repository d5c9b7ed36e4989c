"""The review page without a browser: what it shows to whom, what it refuses, how little it asks the database."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from crawling import review
from crawling.models import Change, CrawlRun, Decision, Draft
from registry import versions
from registry.versions import Publication
from tests.admin.conftest import Screen
from tests.admin.test_pages import check_markup
from tests.browser.shop import Shop
from tests.factories import make_groups

State = Change.State


@pytest.fixture
def shop(db: None, tmp_path: Path, type_catalogues: None) -> Shop:
    make_groups()
    return Shop(tmp_path / "shop.sqlite3")


@pytest.fixture
def run(shop: Shop) -> CrawlRun:
    return shop.grown()


def page_of(client: Screen, run: CrawlRun, name: str = "crawling_review", **query: str) -> str:
    answer = client.get(reverse(f"admin:{name}", args=[run.pk]), query)
    assert answer.status_code == 200, answer.status_code
    return html.unescape(answer.content.decode())


def decide(client: Screen, run: CrawlRun, *, as_json: bool = True, **values: Any) -> Any:
    headers = {"accept": "application/json"} if as_json else {}
    return client.post(reverse("admin:crawling_review_decide", args=[run.pk]), values, headers=headers)


def finish(client: Screen, run: CrawlRun, note: str = "") -> Any:
    return client.post(reverse("admin:crawling_review_finish", args=[run.pk]), {"note": note}, follow=True)


def row(text: str, change: Change) -> str:
    return text.split(f'id="change-{change.pk}"', 1)[1].split("</li>\n", 1)[0]


def test_the_header_counts_and_breaking_datasets_come_first(shop: Shop, run: CrawlRun) -> None:
    text = page_of(Screen(shop.steward), run)
    assert "20 changes in 11 datasets" in text
    for words in ("8 breaking", "4 risky", "8 safe", "0 of 20 decided", "Approve the remaining"):
        assert words in text
    order = [text.index(f"title-{each}") for each in _sections(text)]
    assert order == sorted(order)
    assert _sections(text)[-1] == "new"
    worst = [_worst(text, key) for key in _sections(text)[:-1]]
    assert worst == sorted(worst)
    check_markup(text, "review")


def test_a_counted_reader_leads_to_who_it_is(shop: Shop, run: CrawlRun) -> None:
    dropped = shop.change(run, "drop_field", "fax")
    assert ">Who?<" not in row(page_of(Screen(shop.steward), run), dropped)
    Change.objects.filter(pk=dropped.pk).update(
        why="Whoever reads the column will fail. One reader is known."
    )
    shown = row(page_of(Screen(shop.steward), run), dropped)
    assert f"/admin/lineage/explore/?dataset={dropped.proposal.dataset_id}" in shown


def _sections(text: str) -> list[str]:
    return [part.split('"', 1)[0] for part in text.split('data-section="')[1:]]


def _worst(text: str, key: str) -> int:
    section = text.split(f'data-section="{key}"', 1)[1].split("</section>", 1)[0]
    return min(i for i, risk in enumerate(("breaking", "risky", "safe")) if f'data-risk="{risk}"' in section)


def test_a_row_says_what_changed_and_why(shop: Shop, run: CrawlRun) -> None:
    text = page_of(Screen(shop.steward), run)
    rename = row(text, shop.change(run, "rename_field", "phone"))
    for words in ("Column renamed", "<del>", "mobile_phone", "same type VARCHAR(32)", "same place, 8th"):
        assert words in rename
    narrowed = row(text, shop.change(run, "change_parameters", "tracking_code"))
    for words in ("Type narrowed", "VARCHAR(40)", "VARCHAR(24)", "would be cut"):
        assert words in narrowed
    new = row(text, shop.change(run, "add_dataset"))
    for words in ("Table added", "main.stock_recalls", "4 columns", "announced_on"):
        assert words in new


def test_filters_leave_what_they_say(shop: Shop, run: CrawlRun) -> None:
    client = Screen(shop.steward)
    assert 'data-risk="safe"' not in page_of(client, run, risk="breaking")
    change = shop.change(run, "add_field", "country_of_origin")
    decide(client, run, approve=change.pk)
    assert f"change-{change.pk}" not in page_of(client, run, show="open")
    one = page_of(client, run, dataset=str(change.proposal_id))
    assert _sections(one) == [str(change.proposal_id)]
    assert "Nothing here waits for a second person." in page_of(client, run, need="second")


def test_what_was_noted_is_seen_by_others_and_can_be_taken_back(shop: Shop, run: CrawlRun) -> None:
    change = shop.change(run, "add_field", "country_of_origin")
    answer = decide(Screen(shop.steward), run, approve=change.pk)
    assert answer.json() == {"ok": True, "state": "approved", "ids": [change.pk]}
    assert "Approved by Steward." in row(page_of(Screen(shop.approver), run), change)
    assert decide(Screen(shop.approver), run, undo=change.pk).json()["state"] == "open"
    assert not Draft.objects.exists()


def test_a_rejection_needs_a_reason_and_keeps_its_mode(shop: Shop, run: CrawlRun) -> None:
    client = Screen(shop.steward)
    change = shop.change(run, "drop_field", "fax")
    asked = decide(client, run, as_json=False, reject=change.pk)
    assert "Reject a change" in asked.content.decode()
    assert "Column dropped: main.sales_customers, fax" in asked.content.decode()
    refused = decide(client, run, reject=change.pk, why="other", text=" ")
    assert refused.status_code == 422
    assert refused.json()["detail"] == "Say what the other reason is."
    decide(client, run, reject=change.pk, why="not_agreed", text="until June", mode="once")
    draft = Draft.objects.get(change=change)
    assert (draft.verdict, draft.mode, draft.reason) == (
        "reject",
        "once",
        "Planned, but not agreed: until June",
    )


def test_finishing_says_beforehand_what_it_will_do_and_then_does_it(shop: Shop, run: CrawlRun) -> None:
    client = Screen(shop.steward)
    rename = shop.change(run, "rename_field", "phone")
    dropped = shop.change(run, "drop_field", "fax")
    decide(client, run, approve=rename.pk)
    decide(client, run, reject=dropped.pk, why="temporary")
    assert len(decide(client, run, safe="all").json()["ids"]) == 8
    before = page_of(client, run, "crawling_review_finish")
    assert "Apply 8 now</strong> · 1 waits for a second person · 1 rejected · 10 undecided" in before
    text = html.unescape(finish(client, run, note="As agreed").content.decode())
    for words in (
        "8 changes applied",
        "Your note: “As agreed”",
        "10 still open",
        "Version 2",
        "main.stock_recalls",
    ):
        assert words in text
    check_markup(text, "result")
    assert Change.objects.filter(proposal__crawl_run=run, state=State.APPLIED).count() == 8
    assert set(Decision.objects.filter(change=rename).values_list("order", "reason")) == {(1, "As agreed")}
    again = page_of(client, run)
    assert "In force in version 2. Approved by you." in row(
        again, shop.change(run, "add_field", "preferred_language")
    )
    assert "Rejected by you: Temporary object" in row(again, dropped)


def test_the_first_person_reads_words_and_a_forged_confirmation_is_refused(shop: Shop, run: CrawlRun) -> None:
    approver = Screen(shop.approver)
    rename = shop.change(run, "rename_field", "phone")
    decide(approver, run, approve=rename.pk)
    finish(approver, run)
    text = row(page_of(approver, run, need="second"), rename)
    assert "Approved by you. A second person must confirm" in text
    assert 'name="approve"' not in text
    assert 'name="split"' not in text
    forged = decide(approver, run, approve=rename.pk)
    assert forged.status_code == 403
    assert forged.json()["detail"] == "You decided this first; another person must confirm."
    assert decide(approver, run, as_json=False, approve=rename.pk).status_code == 403
    approver.post(reverse("admin:crawling_review_confirm", args=[run.pk]))
    finish(approver, run)
    rename.refresh_from_db()
    assert rename.state == State.WAITING


def test_a_second_person_confirms_all_that_waits_at_once(shop: Shop, run: CrawlRun) -> None:
    steward, approver = Screen(shop.steward), Screen(shop.approver)
    wanted = Change.objects.filter(proposal__crawl_run=run, risk="breaking")
    for change in wanted:
        assert decide(steward, run, approve=change.pk).status_code == 200
    finish(steward, run)
    assert wanted.filter(state=State.WAITING).count() == 8
    seen = page_of(approver, run, need="second")
    assert "Confirm all 8…" in seen
    assert 'data-risk="safe"' not in seen
    there = approver.post(reverse("admin:crawling_review_confirm", args=[run.pk]), follow=True)
    assert "Apply 8 now" in there.content.decode()
    finish(approver, run, note="Checked with the readers")
    assert wanted.filter(state=State.APPLIED).count() == 8


def test_who_may_only_look_sees_no_button_and_cannot_decide(shop: Shop, run: CrawlRun) -> None:
    change = shop.change(run, "add_field", "country_of_origin")
    for person in (shop.viewer, shop.engineer, shop.admin):
        client = Screen(person)
        text = page_of(client, run)
        assert "You can view this review." in text
        assert 'name="approve"' not in text
        assert "data-finish" not in text
        answer = decide(client, run, approve=change.pk)
        assert answer.status_code == 403
        assert "It needs the role" in answer.json()["detail"]
        for name in ("crawling_review_finish", "crawling_review_confirm"):
            assert client.post(reverse(f"admin:{name}", args=[run.pk])).status_code == 403
    assert not Draft.objects.exists()


def test_a_steward_of_other_systems_cannot_decide(
    shop: Shop, run: CrawlRun, screen: Callable[..., Screen]
) -> None:
    change = shop.change(run, "add_field", "country_of_origin")
    assert decide(screen("steward"), run, approve=change.pk).status_code == 403


def test_a_change_of_another_review_is_not_found(shop: Shop, run: CrawlRun) -> None:
    first = CrawlRun.objects.earliest("pk")
    change = shop.change(run, "add_field", "country_of_origin")
    client = Screen(shop.steward)
    assert decide(client, first, as_json=False, approve=change.pk).status_code == 404
    assert decide(client, run, as_json=False, approve=999_999).status_code == 404
    assert decide(client, run, as_json=False, approve="x" * 30).status_code == 404


def test_a_change_under_which_the_registry_moved_is_a_conflict(shop: Shop, run: CrawlRun) -> None:
    change = shop.change(run, "change_default", "max_uses")
    dataset = change.proposal.dataset
    assert dataset is not None
    document = review_document(dataset)
    next(each for each in document["fields"] if each["name"] == "max_uses")["default"] = "7"
    versions.publish_many(
        [Publication(document=document, dataset=dataset, name=dataset.name)],
        system=shop.system,
        by=shop.engineer,
        origin="manual",
        batch="b",
    )
    text = row(page_of(Screen(shop.steward), run), change)
    for words in (
        "conflict",
        "The registry changed here after the crawl looked.",
        "In the registry now:",
        "7",
        "Keep ours",
    ):
        assert words in text
    assert 'name="approve"' not in text
    neighbour = shop.change(run, "change_parameters", "amount_off")
    assert "conflict" not in row(page_of(Screen(shop.steward), run), neighbour)


def review_document(dataset: Any) -> dict[str, Any]:
    from registry import reading

    return reading.document_of(dataset.current_schema)


def test_a_newer_crawl_takes_the_notes_over_and_the_old_page_says_so(shop: Shop, run: CrawlRun) -> None:
    import sqlite3
    from contextlib import closing

    change = shop.change(run, "add_field", "preferred_language")
    decide(Screen(shop.steward), run, approve=change.pk)
    with closing(sqlite3.connect(shop.file)) as source:
        source.execute("ALTER TABLE sales_customers ADD COLUMN nickname TEXT")
    newer = shop.crawl()
    text = page_of(Screen(shop.steward), run)
    assert f"Run {newer.pk} looked again and replaced 3 of these." in text
    assert "A newer crawl replaced this." in row(text, change)
    heir = shop.change(newer, "add_field", "preferred_language")
    there = page_of(Screen(shop.steward), newer)
    assert "Approved by you." in row(there, heir)
    assert "main.stock_warehouses" in there, "what the older run left open is in the newer review"


def test_a_finished_review_is_frozen(shop: Shop, run: CrawlRun) -> None:
    proposals = review.proposals_of(run)
    review.decide(proposals, approve="all", by=shop.steward)
    review.apply(proposals, by=shop.steward)
    review.decide(review.proposals_of(run), approve="all", by=shop.approver)
    review.apply(review.proposals_of(run), by=shop.approver)
    text = page_of(Screen(shop.steward), run)
    assert "This review is finished." in text
    assert '<button class="btn small" form="decide"' not in text
    assert "data-finish" not in text


def test_the_list_counts_what_waits_and_for_whom(shop: Shop, run: CrawlRun) -> None:
    steward, approver = Screen(shop.steward), Screen(shop.approver)
    listed = html.unescape(steward.get(reverse("admin:crawling_reviews")).content.decode())
    for words in ("Shop", "8 breaking", "4 risky", "8 safe", "11 datasets", "0 of 20", "1 review"):
        assert words in listed
    check_markup(listed, "reviews")
    decide(steward, run, approve=shop.change(run, "rename_field", "phone").pk)
    finish(steward, run)
    second = html.unescape(
        approver.get(reverse("admin:crawling_reviews"), {"need": "second"}).content.decode()
    )
    assert f"/crawlrun/{run.pk}/review/?need=second" in second
    assert "1 breaking" in second
    assert "Finished" in second
    done = html.unescape(approver.get(reverse("admin:crawling_reviews"), {"show": "done"}).content.decode())
    assert f"run {CrawlRun.objects.earliest('pk').pk}" in done


def test_a_rename_is_split_and_paired_on_the_page(shop: Shop, run: CrawlRun) -> None:
    client = Screen(shop.steward)
    rename = shop.change(run, "rename_field", "phone")
    shown = row(page_of(client, run), rename)
    assert "No: one dropped, one added" in shown
    answer = decide(client, run, as_json=False, split=rename.pk)
    drop = shop.change(run, "drop_field", "phone")
    assert answer["Location"].endswith(f"#change-{drop.pk}")
    text = page_of(client, run)
    assert "Split: phone is dropped, mobile_phone is added." in text
    assert "Pair…" in row(text, drop)
    asked = decide(client, run, as_json=False, pair=shop.change(run, "drop_field", "fax").pk)
    add = shop.change(run, "add_field", "mobile_phone")
    assert f'name="with" value="{add.pk}"' in asked.content.decode()
    check_markup(asked.content.decode(), "pair")
    decide(client, run, as_json=False, pair=shop.change(run, "drop_field", "fax").pk, **{"with": add.pk})
    one = shop.change(run, "rename_field", "fax")
    assert one.paired_by == shop.steward
    assert "paired by a person" in row(page_of(client, run), one)


def test_a_split_needs_the_right_and_an_open_change(shop: Shop, run: CrawlRun) -> None:
    rename = shop.change(run, "rename_field", "phone")
    assert decide(Screen(shop.viewer), run, as_json=False, split=rename.pk).status_code == 403
    assert "No: one dropped" not in page_of(Screen(shop.viewer), run)
    proposals = review.proposals_of(run)
    review.decide(proposals, approve=[rename.pk], by=shop.steward)
    review.apply(proposals, by=shop.steward)
    refused = decide(Screen(shop.approver), run, split=rename.pk)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "STALE_CHANGE")


def test_what_people_say_about_a_change_is_seen_by_all(shop: Shop, run: CrawlRun) -> None:
    change = shop.change(run, "drop_field", "fax")
    client = Screen(shop.engineer)
    assert "Comment on a change" in decide(client, run, as_json=False, comment=change.pk).content.decode()
    answer = decide(client, run, comment=change.pk, text="Planned since <May>.").json()
    assert (answer["ok"], answer["by"]) == (True, "Engineer")
    said = row(page_of(Screen(shop.viewer), run), change)
    assert "Planned since <May>." in said  # unescaped here by the helper
    assert "<May>" not in client.get(reverse("admin:crawling_review", args=[run.pk])).content.decode()
    assert decide(client, run, comment=change.pk, text="  ").status_code == 422
    assert decide(Screen(shop.viewer), run, comment=change.pk, text="No.").status_code == 403
