"""Tags on many fields at once, removals asked for, and one's own act taken back."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.accounts.models import User
from aide.audit.models import AuditEntry
from registry import tagging
from registry.models import Field, FieldTag, PIITag
from registry.tagging import many
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def steward() -> User:
    return make_user("steward")


def columns(count: int) -> list[Field]:
    dataset = make_dataset(system=make_system())
    publish(dataset, *((f"c{n}", "text") for n in range(count)))
    return list(Field.objects.filter(dataset=dataset).select_related("dataset__system").order_by("pk"))


def make_tag(code: str = "email_x") -> PIITag:
    return PIITag.objects.create(code=code, name=code, sensitivity=2)


@pytest.mark.parametrize("act", ["tag", "take back", "ask removal"])
def test_a_thousand_pairs_take_as_many_statements_as_fifty(act: str, steward: User) -> None:
    counts = []
    tag = make_tag()
    for size in (50, 400):
        fields = columns(size)
        made = [] if act == "tag" else many.confirm_many([(f, tag) for f in fields], by=steward)
        with CaptureQueriesContext(connection) as asked:
            if act == "tag":
                many.confirm_many([(f, tag) for f in fields], by=steward)
            elif act == "take back":
                many.take_back(made, by=steward)
            else:
                many.ask_removal_many([(f, tag) for f in fields], by=steward)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_tag_on_many_accepts_what_was_suggested_and_leaves_what_was_confirmed(steward: User) -> None:
    suggested, confirmed, plain = columns(3)
    tag = make_tag()
    FieldTag.objects.create(
        field=suggested,
        tag=tag,
        state="suggested",
        origin="rule",
        rule="r",
        confidence=0.9,
        since=plain.created_at,
    )
    tagging.confirm(confirmed, tag, by=steward)
    made = many.confirm_many([(f, tag) for f in (suggested, confirmed, plain)], by=steward, batch="b2")
    assert {row.field_id for row in made} == {suggested.pk, plain.pk}
    now = FieldTag.objects.filter(until__isnull=True)
    assert set(now.values_list("field_id", "state", "origin")) == {
        (suggested.pk, "confirmed", "rule"),
        (confirmed.pk, "confirmed", "person"),
        (plain.pk, "confirmed", "person"),
    }
    assert AuditEntry.objects.filter(batch="b2", action="tag.confirm", touches_pii=True).count() == 2


def test_taking_back_brings_what_stood_before_and_leaves_what_others_did(steward: User) -> None:
    suggested, plain, moved, theirs = columns(4)
    tag, colleague = make_tag(), make_user("approver")
    FieldTag.objects.create(
        field=suggested, tag=tag, state="suggested", origin="rule", since=plain.created_at
    )
    made = many.confirm_many([(f, tag) for f in (suggested, plain, moved)], by=steward)
    others = many.confirm_many([(theirs, tag)], by=colleague)
    taken = FieldTag.objects.get(field=moved, until=None)
    tagging.remove(tagging.remove(taken, by=steward), by=colleague)
    undone = many.take_back([*made, *others], by=steward, batch="b3")
    assert {row.field_id for row in undone} == {suggested.pk, plain.pk}
    now = FieldTag.objects.filter(until__isnull=True)
    assert set(now.values_list("field_id", "state")) == {
        (suggested.pk, "suggested"),
        (moved.pk, "removed"),
        (theirs.pk, "confirmed"),
    }
    entries = AuditEntry.objects.filter(batch="b3").order_by("object_id")
    assert [(e.action, e.after["state"]) for e in entries] == [("tag.undo", "suggested"), ("tag.undo", "")]


def test_many_removals_wait_for_another_person_and_can_be_called_off(steward: User) -> None:
    one, other, bare = columns(3)
    tag = make_tag()
    many.confirm_many([(one, tag), (other, tag)], by=steward)
    asked = many.ask_removal_many(
        [(f, tag) for f in (one, other, bare)], by=steward, reason="Test data", batch="b4"
    )
    assert {row.field_id for row in asked} == {one.pk, other.pk}
    assert AuditEntry.objects.filter(batch="b4", action="tag.ask_removal").count() == 2
    tagging.remove(asked[0], by=make_user("approver"))
    assert [row.pk for row in many.call_off(asked, by=steward)] == [asked[1].pk]
    assert FieldTag.objects.get(pk=asked[1].pk).removal_by is None
