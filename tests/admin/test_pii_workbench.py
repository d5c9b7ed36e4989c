"""The PII workbench: groups, decisions one by one and together, the tabs, two people for a removal, the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from aide.audit.models import AuditEntry
from aide.work.models import WorkItem
from registry import suggesting, tagging
from registry.models import Dataset, Field, FieldTag, PIIRule, PIITag, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish

PAGE, DECIDE = "admin:registry_pii_workbench", "admin:registry_pii_decide"
JSON = {"accept": "application/json"}
Screens = Callable[..., Screen]


def kind(code: str = "kind_x") -> PIITag:
    return PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})[0]


def suggest(field: Field, code: str = "kind_x", **values: Any) -> FieldTag:
    said = {
        "confidence": 0.95,
        "rule": "kind.rule",
        "rule_version": "1",
        "evidence": "The name says so.",
        **values,
    }
    return FieldTag.objects.create(
        field=field, tag=kind(code), state="suggested", origin="rule", since=timezone.now(), **said
    )


def fields(dataset: Dataset) -> dict[str, Field]:
    return {field.path: field for field in dataset.fields.select_related("dataset__system")}


def wide(system: System, count: int) -> list[Field]:
    dataset = make_dataset(system=system, status=Dataset.Status.ACTIVE)
    publish(dataset, *((f"c{n}", "text") for n in range(count)))
    return list(dataset.fields.order_by("pk"))


@pytest.fixture
def steward(screen: Screens, system: System) -> Screen:
    return screen("steward", systems=(system,))


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_suggestions_are_grouped_by_tag_and_rule_and_open_on_demand(
    steward: Screen, dataset: Dataset
) -> None:
    for name, confidence in (("id", 0.9), ("email", 0.97)):
        suggest(fields(dataset)[name], confidence=confidence)
    suggest(fields(dataset)["phone"], "kind_y")
    page = text(steward.get(reverse(PAGE)))
    assert "3 suggestions to decide" in page
    assert "2 columns" in page
    assert "0.90\N{EN DASH}0.97" in page
    assert "The name says so." not in page
    opened = text(steward.get(reverse(PAGE), {"open": "kind_x~rule~kind.rule"}))
    assert opened.count("The name says so.") == 2
    rows = steward.get(reverse(PAGE), {"rows": "kind_x~rule~kind.rule"})
    assert text(rows).startswith("<li")
    assert "0.97 high" in " ".join(text(rows).split())


def test_accepting_a_group_leaves_what_only_the_name_says_and_equal_ones(
    steward: Screen, system: System
) -> None:
    columns = wide(system, 24)
    for column in columns[:22]:
        suggest(column)
    suggest(columns[22], name_only=True, confidence=0.8)
    suggest(columns[23])
    suggest(columns[23], "kind_y")
    key = "kind_x~rule~kind.rule"
    answer = steward.post(reverse(DECIDE), {"group": key, "seen": "24"}, headers=JSON)
    assert (answer.json()["words"], answer.json()["left"]) == ("22 accepted, 2 left for you", 2)
    assert FieldTag.objects.filter(state="confirmed", until=None).count() == 22
    confirmed = AuditEntry.objects.filter(action="tag.confirm")
    assert confirmed.count() == 22
    assert len(set(confirmed.values_list("batch", flat=True))) == 1
    left = text(steward.get(reverse(PAGE), {"open": key}))
    assert "Only the name matches. Look before you accept." in left
    assert "Another suggestion for this column is as likely." in left


def test_a_group_that_grew_is_not_accepted_unseen(steward: Screen, dataset: Dataset) -> None:
    suggest(fields(dataset)["email"])
    suggest(fields(dataset)["phone"])
    answer = steward.post(reverse(DECIDE), {"group": "kind_x~rule~kind.rule", "seen": "1"}, headers=JSON)
    assert answer.status_code == 409
    assert answer.json()["detail"] == "1 when you looked, 2 now. Look again, then accept."
    assert not FieldTag.objects.filter(state="confirmed").exists()


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"why": "1"}, "Not personal data"),
        ({"why": "3", "text": "load tests"}, "Test data: load tests"),
        ({"why": "4", "text": "a ship's name"}, "a ship's name"),
    ],
)
def test_a_rejection_keeps_its_reason(
    steward: Screen, dataset: Dataset, form: dict[str, str], reason: str
) -> None:
    row = suggest(fields(dataset)["email"])
    answer = steward.post(reverse(DECIDE), {"reject": row.pk, **form}, headers=JSON)
    assert answer.status_code == 200, answer.content
    refused = FieldTag.objects.get(state="rejected")
    assert (refused.reason, refused.decided_by) == (reason, steward.user)
    assert answer.json()["undo"] == refused.pk


def test_the_wrong_tag_is_changed_for_the_right_one(steward: Screen, dataset: Dataset) -> None:
    row, other = suggest(fields(dataset)["email"]), kind("kind_y")
    none = steward.post(reverse(DECIDE), {"reject": row.pk, "why": "2"}, headers=JSON)
    assert none.status_code == 422
    steward.post(reverse(DECIDE), {"reject": row.pk, "why": "2", "tag": other.code}, headers=JSON)
    assert FieldTag.objects.get(state="confirmed").tag == other
    assert FieldTag.objects.get(state="rejected").tag == row.tag


def test_everything_works_as_plain_forms(steward: Screen, dataset: Dataset) -> None:
    rows = [suggest(field) for field in fields(dataset).values()]
    back = {"back": "open=kind_x~rule~kind.rule"}
    accepted = steward.post(reverse(DECIDE), {"accept": rows[0].pk, **back}, follow=True)
    assert accepted.redirect_chain[0][0].endswith("?open=kind_x~rule~kind.rule".replace("~", "~"))
    assert "Accepted kind_x on" in text(accepted)
    asked = steward.post(reverse(DECIDE), {"reject": rows[1].pk, **back})
    assert (asked.status_code, "Not personal data" in text(asked)) == (200, True)
    assert 'role="alert"' not in text(asked).split("<main")[1]
    again = steward.post(reverse(DECIDE), {"reject": rows[1].pk, "why": "4", "text": "", **back})
    assert (again.status_code, "Say what the other reason is." in text(again)) == (422, True)
    done = steward.post(reverse(DECIDE), {"reject": rows[1].pk, "why": "1", **back}, follow=True)
    assert "Rejected kind_x on" in text(done)
    group = steward.post(reverse(DECIDE), {"group": "kind_x~rule~kind.rule", "seen": "1"}, follow=True)
    assert "1 accepted, 0 left for you" in text(group)


def test_a_rejection_is_brought_back_from_its_tab(steward: Screen, dataset: Dataset) -> None:
    row = suggest(fields(dataset)["email"])
    refused = tagging.reject(row, reason="A ship", by=steward.user)
    page = text(steward.get(reverse(PAGE), {"tab": "rejected"}))
    assert "A ship" in page
    assert "Bring back" in page
    steward.post(reverse(DECIDE), {"reopen": refused.pk})
    assert FieldTag.objects.get(until=None).state == "suggested"


def test_removing_a_tag_takes_two_people_on_the_screens(
    steward: Screen, screen: Screens, dataset: Dataset
) -> None:
    row = tagging.confirm(fields(dataset)["email"], kind(), by=steward.user)
    asked = steward.post(reverse(DECIDE), {"remove": row.pk})
    assert "One of the two must be an approver." in text(asked)
    waits = steward.post(reverse(DECIDE), {"remove": row.pk, "text": "Test table"}, follow=True)
    assert "Another person must confirm" in text(waits)
    page = text(steward.get(reverse(PAGE), {"tab": "removals"}))
    assert "You asked for this removal; another person must confirm." in page
    assert "Confirm removal" not in page
    assert steward.post(reverse(DECIDE), {"confirm": row.pk}).status_code == 403
    approver = screen("approver")
    assert "Confirm removal" in text(approver.get(reverse(PAGE), {"tab": "removals"}))
    approver.post(reverse(DECIDE), {"confirm": row.pk})
    gone = FieldTag.objects.get(until=None)
    assert (gone.state, gone.decided_by, gone.second_by) == ("removed", steward.user, approver.user)


def test_a_steward_sees_and_decides_own_systems(steward: Screen, dataset: Dataset, screen: Screens) -> None:
    elsewhere = wide(make_system("elsewhere"), 1)[0]
    theirs, mine = suggest(elsewhere), suggest(fields(dataset)["email"])
    assert "1 suggestion to decide" in text(steward.get(reverse(PAGE)))
    assert "2 suggestions to decide" in text(steward.get(reverse(PAGE), {"all": "1"}))
    assert steward.post(reverse(DECIDE), {"accept": theirs.pk}).status_code == 403
    answer = steward.post(
        reverse(DECIDE), {"group": "kind_x~rule~kind.rule", "seen": "1", "back": "all=1"}, headers=JSON
    )
    assert answer.json()["words"] == "1 accepted, 0 left for you"
    assert FieldTag.objects.get(field=mine.field, until=None).state == "confirmed"
    assert FieldTag.objects.get(field=elsewhere, until=None).state == "suggested"
    viewer = screen("viewer")
    page = text(viewer.get(reverse(PAGE)))
    assert "Accept <span" not in page
    assert viewer.post(reverse(DECIDE), {"group": "kind_x~rule~kind.rule"}).status_code == 403


def test_the_navigation_counts_what_the_person_may_decide(steward: Screen, dataset: Dataset) -> None:
    suggest(wide(make_system("elsewhere"), 1)[0])
    suggest(fields(dataset)["email"])
    groups = steward.get(reverse(PAGE)).context["nav_groups"]
    (link,) = [each for group in groups for each in group["links"] if each["label"] == "PII suggestions"]
    assert (link["count"], link["current"]) == (1, True)


def test_coverage_counts_columns_of_each_system(steward: Screen, dataset: Dataset) -> None:
    suggest(fields(dataset)["email"])
    tagging.confirm(fields(dataset)["phone"], kind(), by=steward.user)
    coverage = steward.get(reverse(PAGE), {"tab": "coverage"}).context["coverage"]
    (mine,) = coverage
    assert (mine.columns, mine.confirmed, mine.decided, mine.suggested, mine.none) == (3, 1, 1, 1, 1)


def test_a_batch_that_came_along_lineage_is_undone_as_one(steward: Screen, dataset: Dataset) -> None:
    for field in fields(dataset).values():
        row = suggest(field, rule="lineage", path=["crm/a.b", "crm/c.d"])
        FieldTag.objects.filter(pk=row.pk).update(origin="lineage", batch="b1")
    page = text(steward.get(reverse(PAGE), {"open": "kind_x~lineage~lineage"}))
    assert "3 suggestions came along lineage" in page
    assert "By way of" in page
    done = steward.post(reverse(DECIDE), {"undo": "b1"}, follow=True)
    assert "Refused 3 suggestions." in text(done)
    assert FieldTag.objects.filter(until=None, state="rejected").count() == 3


def test_looking_again_is_queued(steward: Screen, dataset: Dataset) -> None:
    WorkItem.objects.all().delete()
    url = reverse("admin:registry_pii_suggest")
    done = steward.post(url, {"system": dataset.system.code}, follow=True)
    assert "The rules look at 1 dataset again." in text(done)
    assert steward.post(url, {"dataset": dataset.pk}).status_code == 302
    assert WorkItem.objects.filter(task=suggesting.SUGGEST).count() == 2
    assert steward.post(url, {"system": make_system().code}).status_code == 403
    assert steward.get(url).status_code == 404


def test_the_file_of_columns_is_harmless_in_a_spreadsheet_and_recorded(
    steward: Screen, system: System
) -> None:
    column, other = wide(system, 2)
    Field.objects.filter(pk=column.pk).update(description="=HYPERLINK(1)", owner="+49 30")
    column.refresh_from_db()
    tagging.confirm(column, kind(), by=steward.user)
    tagging.confirm(other, kind("kind_y"), by=steward.user)
    response = steward.get(reverse("admin:registry_pii_columns"), {"tag": "kind_x"})
    head, *lines = list(csv.reader(io.StringIO(response.content.decode())))
    (line,) = [dict(zip(head, line, strict=True)) for line in lines]
    assert (line["system"], line["column"], line["tag"]) == (system.code, "c0", "kind_x")
    assert (line["description"], line["owner"]) == ("'=HYPERLINK(1)", "'+49 30")
    entry = AuditEntry.objects.get(action="tag.export")
    assert (entry.actor, entry.after["columns"]) == (steward.user, 1)


@pytest.mark.parametrize("tab", ["", "accepted", "removals", "rejected", "coverage", "open"])
def test_pages_take_as_many_statements_for_many_rows_as_for_few(
    tab: str, screen: Screens, system: System
) -> None:
    client = screen("approver")
    counts = []
    query = {"open": "kind_x~rule~kind.rule"} if tab == "open" else {"tab": tab}
    for size in (3, 30):
        columns = wide(system, size * 4)
        for column in columns[:size]:
            suggest(column)
            suggest(column, "kind_y")
        for column in columns[size : size * 2]:
            tagging.confirm(column, kind(), by=client.user)
        for column in columns[size * 2 : size * 3]:
            tagging.reject(suggest(column), reason="no", by=client.user)
        for column in columns[size * 3 :]:
            tagging.remove(tagging.confirm(column, kind(), by=client.user), by=client.user)
        client.get(reverse(PAGE), query)
        with CaptureQueriesContext(connection) as asked:
            assert client.get(reverse(PAGE), query).status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]
    assert counts[0] <= 16


@pytest.mark.parametrize(
    "query", ["min=x", "min=9", "page=x", "open=~~~", "rows=%00", "tab=nothing", "start=-1"]
)
def test_odd_addresses_are_no_fault(steward: Screen, dataset: Dataset, query: str) -> None:
    assert steward.get(f"{reverse(PAGE)}?{query}").status_code == 200


def test_a_reason_holds_what_a_database_can_hold(steward: Screen, dataset: Dataset) -> None:
    row = suggest(fields(dataset)["email"])
    steward.post(reverse(DECIDE), {"reject": row.pk, "why": "4", "text": "a\x00b"})
    assert FieldTag.objects.get(until=None).reason == "ab"


@pytest.mark.parametrize("body", [{}, {"accept": "x"}, {"reject": "9" * 30}, {"keep": "0"}])
def test_odd_posts_find_nothing(steward: Screen, dataset: Dataset, body: dict[str, str]) -> None:
    assert steward.post(reverse(DECIDE), body).status_code == 404


def test_a_rule_is_written_versioned_and_switched_off(screen: Screens, dataset: Dataset) -> None:
    admin = screen("admin")
    add = reverse("admin:registry_piirule_add")
    bad = admin.post(add, {"code": "own.x", "words": "shoe colour", "confidence": "0.8", "is_active": "on"})
    assert "Choose what the rule finds." in text(bad)
    body = {"code": "own.x", "tag": kind().pk, "words": "shoe colour", "confidence": "0.8", "is_active": "on"}
    assert "types does not know" in text(admin.post(add, {**body, "types": "nonsense"}))
    assert admin.post(add, body).status_code == 302
    rule = PIIRule.objects.get()
    assert (rule.version, rule.words) == (1, ["shoe colour"])
    change = reverse("admin:registry_piirule_change", args=[rule.pk])
    admin.post(change, {**body, "note": "only a note"})
    rule.refresh_from_db()
    assert rule.version == 1
    admin.post(change, {**body, "vetoes": "brand"})
    rule.refresh_from_db()
    assert rule.version == 2
    off = admin.post(add, {"code": "no.such.rule", "confidence": "0.8"})
    assert "No rule that comes with AIDE has this code." in text(off)
    assert admin.post(add, {"code": "email.address", "confidence": "0.8"}).status_code == 302
    listed = text(admin.get(reverse("admin:registry_piirule_changelist")))
    assert "changed above" in listed
    assert "phone.number" in listed
    assert screen("steward").get(add).status_code == 403
