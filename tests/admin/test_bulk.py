"""Changing many rows together: the filter is honoured, nothing is lost, everything is told, and it can be undone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from aide.audit.models import AuditEntry
from aide.desk.bulk import applying, weighing
from aide.desk.models import Batch, BatchRow, Selection
from aide.desk.tasks import forget
from aide.work import runner
from aide.work.models import WorkItem
from registry import curation
from registry.models import Dataset, Field, FieldTag, PIITag, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish

FIELDS = "admin:registry_field_changelist"


@pytest.fixture
def email(db: None) -> PIITag:
    return PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail address", "sensitivity": 2})[
        0
    ]


@pytest.fixture
def steward(screen: Callable[..., Screen], system: System) -> Screen:
    return screen("steward", systems=(system,))


def wide(system: System, *names: str) -> Dataset:
    dataset = make_dataset(system=system)
    publish(dataset, *((name, "text") for name in names))
    return dataset


def choose(client: Screen, query: str = "", **body: Any) -> str:
    """The address of the selection's page."""
    answer = client.post(f"{reverse(FIELDS)}{query}", body or {"choose": "all"})
    assert answer.status_code == 302
    return answer["Location"]


def apply(client: Screen, page: str, **values: Any) -> Batch:
    answer = client.post(page, {"step": "apply", **values})
    assert answer.status_code == 302, answer.content.decode()
    return Batch.objects.get(pk=answer["Location"].rstrip("/").rsplit("/", 1)[1])


def tagged(tag: PIITag) -> set[str]:
    rows = FieldTag.objects.filter(tag=tag, until__isnull=True, state="confirmed")
    return set(rows.values_list("field__name", flat=True))


def test_select_all_that_match_takes_every_page_and_nothing_else(
    steward: Screen, system: System, email: PIITag
) -> None:
    wide(system, *(f"mail_{n:03}" for n in range(130)), *(f"other_{n}" for n in range(5)))
    page = steward.get(reverse(FIELDS), {"q": "mail_"}).content.decode()
    assert re.search(r"Select all 130 that match\s+<em>q=mail_</em>", page)
    batch = apply(steward, choose(steward, "?q=mail_"), add_tags="email")
    assert (batch.state, batch.changed, batch.skipped) == ("done", 130, 0)
    assert tagged(email) == {f"mail_{n:03}" for n in range(130)}
    assert AuditEntry.objects.filter(batch=batch.key, action="tag.confirm").count() == 130


def test_only_the_marked_rows_are_changed(steward: Screen, system: System) -> None:
    wide(system, "one", "two", "three")
    two = Field.objects.get(name="two")
    page = choose(steward, "?q=t", choose="marked", marked=[two.pk, 999_999, "x"])
    assert "1 field marked in the list of" in steward.get(page).content.decode()
    apply(steward, page, owner="CRM", reason="They asked")
    assert set(Field.objects.filter(owner="CRM").values_list("name", flat=True)) == {"two"}
    assert AuditEntry.objects.get(action="field.edit").reason == "They asked"


def test_the_page_shows_the_filter_the_rows_and_who_is_skipped_why(
    steward: Screen, system: System, email: PIITag
) -> None:
    wide(system, "mail")
    wide(make_system("billing"), "mail")
    page = choose(steward, "?q=mail")
    shown = steward.get(page).content.decode()
    assert "2 fields" in shown
    assert "q=mail" in shown
    assert "1 row will be skipped" in shown
    assert "billing is none of your systems" in shown
    preview = steward.post(page, {"step": "preview", "add_tags": "email"}).content.decode()
    assert "1 will change" in preview
    assert "Apply to 2" in preview
    assert FieldTag.objects.count() == 0, "a preview writes nothing"
    batch = apply(steward, page, add_tags="email")
    assert (batch.changed, batch.skipped) == (1, 1)
    result = steward.get(reverse("admin:desk_batch", args=[batch.pk])).content.decode()
    assert "Tagged 1, skipped 1 row" in result
    assert "billing is none of your systems" in result


def test_a_preview_counts_each_value_before_and_after(steward: Screen, system: System) -> None:
    wide(system, "a", "b", "c")
    Field.objects.filter(name="a").update(owner="Sales")
    preview = steward.post(choose(steward), {"step": "preview", "owner": "CRM", "description": "Words"})
    text = re.sub(r"<[^>]*>|\s+", " ", preview.content.decode())
    text = re.sub(r"\s+", " ", text)
    assert "Owner (none) CRM 2" in text
    assert "Owner Sales CRM 1" in text
    assert "Description (none) Words 3" in text


def test_rows_that_came_since_the_preview_are_not_written_unseen(
    steward: Screen, system: System, email: PIITag
) -> None:
    wide(system, "mail_1")
    page = choose(steward, "?q=mail")
    steward.post(page, {"step": "preview", "add_tags": "email"})
    wide(system, "mail_2")
    asked = steward.post(page, {"step": "apply", "add_tags": "email"})
    assert asked.status_code == 409
    assert "1 when you previewed, 2 now." in asked.content.decode()
    assert FieldTag.objects.count() == 0
    kept = steward.post(page, {"step": "apply", "keep": "1", "add_tags": "email"})
    assert kept.status_code == 302
    assert tagged(email) == {"mail_1"}
    steward.post(page, {"step": "again", "add_tags": "email"})
    apply(steward, page, add_tags="email")
    assert tagged(email) == {"mail_1", "mail_2"}


def test_rows_that_changed_places_are_noticed_though_the_count_is_the_same(
    steward: Screen, system: System
) -> None:
    wide(system, "mail_1")
    page = choose(steward, "?q=mail")
    Field.objects.filter(name="mail_1").update(name="post", path="post")
    wide(system, "mail_2")
    assert steward.post(page, {"step": "apply", "owner": "CRM"}).status_code == 409


def test_descriptions_are_written_only_where_there_are_none(steward: Screen, system: System) -> None:
    wide(system, "a", "b")
    Field.objects.filter(name="a").update(description="By hand")
    batch = apply(steward, choose(steward), description="All alike", add_words="raw, new")
    assert dict(Field.objects.values_list("name", "description")) == {"a": "By hand", "b": "All alike"}
    assert (batch.changed, batch.unchanged) == (2, 0)
    batch = apply(steward, choose(steward), description="All alike", remove_words="new")
    assert set(map(tuple, Field.objects.values_list("tags", flat=True))) == {("raw",)}


def test_datasets_get_owner_status_and_tags(steward: Screen, system: System) -> None:
    make_dataset("orders", system=system)
    page = steward.post(reverse("admin:registry_dataset_changelist"), {"choose": "all"})["Location"]
    form = steward.get(page).content.decode()
    assert "personal-data" not in form
    apply(steward, page, owner="Sales", status="deprecated", add_words="old")
    row = Dataset.objects.get(name="public.orders")
    assert (row.owner, row.status, row.tags) == ("Sales", "deprecated", ["old"])
    assert steward.post(page, {"step": "apply", "status": "retired"}).status_code == 422


def test_an_empty_form_and_contradictions_are_refused_in_words(steward: Screen, system: System) -> None:
    wide(system, "a")
    page = choose(steward)
    for body in ({}, {"add_words": "x", "remove_words": "x"}, {"owner": "CRM", "clear_owner": "on"}):
        answer = steward.post(page, {"step": "apply", **body})
        assert answer.status_code == 422
        assert 'class="errornote"' in answer.content.decode()
    assert Batch.objects.count() == 0


def test_undo_brings_back_what_stood_there_and_names_what_was_changed_since(
    steward: Screen, system: System, email: PIITag
) -> None:
    wide(system, "a", "b", "c")
    a, b = (Field.objects.get(name=name) for name in "ab")
    FieldTag.objects.create(
        field=a, tag=email, state="suggested", origin="rule", rule="r", since=timezone.now()
    )
    batch = apply(steward, choose(steward), owner="CRM", add_tags="email")
    curation.edit(b, {"owner": "Sales"}, by=steward.user)
    address = reverse("admin:desk_batch", args=[batch.pk])
    assert "Undo this batch" in steward.get(address).content.decode()
    steward.post(reverse("admin:desk_batch_undo", args=[batch.pk]))
    page = steward.get(address).content.decode()
    assert "1 were changed since and stay" in page
    assert "its owner was changed since" in page
    assert "Undo this batch" not in page
    assert dict(Field.objects.values_list("name", "owner")) == {"a": "", "b": "Sales", "c": ""}
    now = FieldTag.objects.filter(until__isnull=True).values_list("field__name", "state")
    assert dict(now) == {"a": "suggested", "b": "confirmed"}
    assert AuditEntry.objects.filter(batch=batch.key, action="tag.undo").count() == 2
    again = steward.post(reverse("admin:desk_batch_undo", args=[batch.pk]), follow=True).content.decode()
    assert "This can be undone once, by whoever did it, within 24 hours." in again


def test_removing_a_confirmed_tag_only_asks_a_second_person(
    steward: Screen, system: System, email: PIITag
) -> None:
    wide(system, "a")
    apply(steward, choose(steward), add_tags="email")
    batch = apply(steward, choose(steward), remove_tags="email", reason="Test data")
    tag = FieldTag.objects.get(until__isnull=True)
    assert (tag.state, tag.removal_by) == ("confirmed", steward.user)
    steward.post(reverse("admin:desk_batch_undo", args=[batch.pk]))
    tag.refresh_from_db()
    assert (tag.state, tag.removal_by) == ("confirmed", None)


def test_undo_ends_after_a_day_and_is_for_who_did_it(
    steward: Screen, system: System, screen: Callable[..., Screen]
) -> None:
    wide(system, "a")
    batch = apply(steward, choose(steward), owner="CRM")
    undo = reverse("admin:desk_batch_undo", args=[batch.pk])
    assert screen("approver").post(undo).status_code == 404
    assert screen("approver").get(reverse("admin:desk_batch", args=[batch.pk])).status_code == 200
    assert screen("viewer").get(reverse("admin:desk_batch", args=[batch.pk])).status_code == 404
    Batch.objects.update(finished_at=timezone.now() - timedelta(hours=25))
    steward.post(undo)
    assert Field.objects.get(name="a").owner == "CRM"


def test_a_selection_is_its_makers_alone_and_ends_after_a_day(
    steward: Screen, system: System, screen: Callable[..., Screen]
) -> None:
    wide(system, "a")
    page = choose(steward)
    assert screen("approver").get(page).status_code == 404
    Selection.objects.update(created_at=timezone.now() - timedelta(hours=25))
    over = steward.post(page, {"step": "apply", "owner": "CRM"})
    assert over.status_code == 410
    assert "older than 24 hours" in over.content.decode()
    forget()
    assert Selection.objects.count() == 0


def test_a_viewer_has_no_boxes_and_a_post_is_refused(screen: Callable[..., Screen], system: System) -> None:
    wide(system, "a")
    viewer = screen("viewer")
    page = viewer.get(reverse(FIELDS)).content.decode()
    assert 'name="marked"' not in page
    assert "Select all" not in page
    assert viewer.post(reverse(FIELDS), {"choose": "all"}).status_code == 403


def test_nothing_marked_is_said_and_selects_nothing(steward: Screen, system: System) -> None:
    wide(system, "a")
    answer = steward.post(f"{reverse(FIELDS)}?q=a", {"choose": "marked"}, follow=True)
    assert "Nothing is selected." in answer.content.decode()
    assert answer.request["QUERY_STRING"] == "q=a"
    assert Selection.objects.count() == 0


def test_more_than_fits_at_once_is_done_by_a_worker_with_progress(
    steward: Screen, system: System, email: PIITag, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applying, "AT_ONCE", 20)
    monkeypatch.setattr(weighing, "AT_ONCE", 20)
    wide(system, *(f"c{n}" for n in range(50)))
    batch = apply(steward, choose(steward), add_tags="email")
    address = reverse("admin:desk_batch", args=[batch.pk])
    part = steward.get(address, {"part": "1"})
    assert "0 of 50 rows" in part.content.decode()
    assert 'hx-trigger="every 2s"' in part.content.decode()
    WorkItem.objects.update(state="dead", last_error="OperationalError.")
    assert "It stopped: OperationalError. What is done stays" in steward.get(address).content.decode()
    WorkItem.objects.update(state="queued")
    runner.drain()
    batch.refresh_from_db()
    assert (batch.state, batch.position, batch.changed) == ("done", 50, 50)
    assert len(tagged(email)) == 50
    assert set(AuditEntry.objects.filter(batch=batch.key).values_list("via", "actor")) == {
        ("ui", steward.user.pk)
    }
    assert steward.get(address, {"part": "1"})["HX-Refresh"] == "true"
    steward.post(reverse("admin:desk_batch_undo", args=[batch.pk]))
    runner.drain()
    batch.refresh_from_db()
    assert (batch.state, batch.undone, batch.kept) == ("undone", 50, 0)
    assert tagged(email) == set()


def test_a_worker_that_stopped_half_way_goes_on_from_there(
    steward: Screen, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applying, "AT_ONCE", 20)
    wide(system, *(f"c{n}" for n in range(50)))
    batch = apply(steward, choose(steward), add_words="new")
    applying._go_on(Batch.objects.get(pk=batch.pk))
    applying.carry_out(batch.pk.hex)
    applying.carry_out(batch.pk.hex)
    assert BatchRow.objects.filter(batch=batch, outcome="changed").count() == 50
    assert AuditEntry.objects.filter(batch=batch.key).count() == 50


@pytest.mark.parametrize("step", ["preview", "apply", "undo"])
def test_hundreds_of_rows_take_as_many_statements_as_fifty(
    step: str, steward: Screen, system: System, email: PIITag
) -> None:
    counts = []
    for size in (50, 300):
        wide(system, *(f"size{size}_{n}" for n in range(size)))
        page = choose(steward, f"?q=size{size}_")
        body = {"add_tags": "email", "owner": "CRM"}
        address = page
        if step == "undo":
            address = reverse("admin:desk_batch_undo", args=[apply(steward, page, **body).pk])
        steward.get(page)
        with CaptureQueriesContext(connection) as asked:
            steward.post(address, {"step": step, **body})
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_batches_of_a_person_are_listed(steward: Screen, system: System) -> None:
    wide(system, "a")
    assert "You have not changed several rows" in steward.get(reverse("admin:desk_batches")).content.decode()
    batch = apply(steward, choose(steward), owner="CRM")
    page = steward.get(reverse("admin:desk_batches")).content.decode()
    assert reverse("admin:desk_batch", args=[batch.pk]) in page
    assert "Changed 1" in page
