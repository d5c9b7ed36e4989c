"""Suggestions and decisions: what is remembered, what comes back and why, who it takes, what the database refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aide.accounts.models import User
from aide.audit.models import AuditEntry
from aide.core.errors import Conflict, DomainError, Forbidden, Invalid, NotFound
from registry import tagging
from registry.models import Field, FieldTag, PIITag
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db
State, Origin = FieldTag.State, FieldTag.Origin


def columns(count: int = 1, **values: Any) -> list[Field]:
    dataset = make_dataset(system=make_system(**values))
    publish(dataset, *((f"c{n}", "text") for n in range(count)))
    return list(Field.objects.filter(dataset=dataset).select_related("dataset__system").order_by("pk"))


def tag(code: str = "kind_x") -> PIITag:
    return PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})[0]


def claim(
    field: Field, *, version: str = "1", evidence: str = "the name", code: str = "kind_x", **values: Any
) -> Any:
    said = {
        "rule": "r",
        "rule_version": version,
        "evidence": evidence,
        "native_type": "text",
        "confidence": 0.8,
    }
    return tagging.Claim(field_id=field.pk, tag_id=tag(code).pk, **{**said, **values})


def offer(
    *claims: tagging.Claim, fields: list[Field], origin: Origin = Origin.RULE, **how: Any
) -> tagging.Offered:
    return tagging.offer(claims, fields=[field.pk for field in fields], origin=origin, **how)


def open_row(field: Field) -> FieldTag:
    return FieldTag.objects.get(field=field, until__isnull=True)


@pytest.fixture
def steward() -> User:
    return make_user("steward")


def test_what_a_rule_says_waits_and_nothing_takes_effect() -> None:
    (field,) = columns()
    assert offer(claim(field), fields=[field]).new == 1
    row = open_row(field)
    assert (row.state, row.decided_by, row.rule, row.rule_version) == (State.SUGGESTED, None, "r", "1")
    entry = AuditEntry.objects.get(action="tag.suggest")
    assert (entry.dataset_id, entry.after["new"], entry.touches_pii) == (field.dataset_id, 1, True)


def test_saying_the_same_again_writes_nothing() -> None:
    fields = columns(3)
    offer(*(claim(field) for field in fields), fields=fields)
    before = list(FieldTag.objects.values_list("pk", "updated_at"))
    again = offer(*(claim(field) for field in fields), fields=fields)
    assert (again.new, again.changed, again.withdrawn) == (0, 0, 0)
    assert list(FieldTag.objects.values_list("pk", "updated_at")) == before
    assert AuditEntry.objects.filter(action="tag.suggest").count() == 1


def test_undecided_suggestions_follow_the_rules_and_go_with_them() -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    assert offer(claim(field, version="2", evidence="other"), fields=[field]).changed == 1
    assert (open_row(field).rule_version, open_row(field).evidence) == ("2", "other")
    assert offer(fields=[field]).withdrawn == 1
    assert not FieldTag.objects.filter(until__isnull=True).exists()


@pytest.mark.parametrize(
    ("again", "comes_back"),
    [
        ({}, False),
        ({"version": "2"}, False),
        ({"evidence": "98 of 100 values"}, False),
        ({"native_type": "varchar(20)"}, False),
        ({"version": "2", "evidence": "98 of 100 values"}, True),
        ({"version": "2", "native_type": "varchar(20)"}, True),
        ({"rule": "other", "evidence": "98 of 100 values"}, True),
        ({"rule": "other"}, False),
    ],
)
def test_a_no_is_taken_back_only_for_a_new_rule_version_and_new_evidence(
    again: dict[str, str], comes_back: bool, steward: User
) -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    tagging.reject(open_row(field), reason="A product's name", by=steward)
    found = offer(claim(field, **again), fields=[field])
    row = open_row(field)
    assert (found.new, found.held) == (int(comes_back), int(not comes_back))
    assert row.state == (State.SUGGESTED if comes_back else State.REJECTED)
    if comes_back:
        assert "Someone said no" in row.returned
        assert "A product's name" in row.returned


def test_every_no_counts_not_only_the_last(steward: User) -> None:
    (field,) = columns()
    for version, evidence in (("1", "the name"), ("2", "values")):
        offer(claim(field, version=version, evidence=evidence), fields=[field])
        tagging.reject(open_row(field), reason="no", by=steward)
    assert offer(claim(field, version="3", evidence="the name"), fields=[field]).held == 1
    assert offer(claim(field, version="1", evidence="something else"), fields=[field]).held == 1
    assert offer(claim(field, version="3", evidence="something else"), fields=[field]).new == 1


def test_a_suggestion_that_came_back_goes_when_the_rules_say_again_what_was_refused(steward: User) -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    tagging.reject(open_row(field), reason="no", by=steward)
    offer(claim(field, version="2", evidence="values"), fields=[field])
    assert offer(claim(field), fields=[field]).withdrawn == 1
    assert not FieldTag.objects.filter(state=State.SUGGESTED, until__isnull=True).exists()


def test_a_person_may_take_a_rejection_back(steward: User) -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    refused = tagging.reject(open_row(field), reason="no", by=steward)
    tagging.reopen(refused, by=steward)
    assert open_row(field).state == State.SUGGESTED
    assert "Brought back by" in open_row(field).returned
    assert offer(claim(field), fields=[field]).withdrawn == 0
    with pytest.raises(Conflict):
        tagging.reopen(refused, by=steward)


def test_what_people_confirmed_no_rule_changes(steward: User) -> None:
    (field,) = columns()
    tagging.confirm(field, tag(), by=steward)
    offer(claim(field), fields=[field])
    offer(fields=[field])
    assert (open_row(field).state, open_row(field).origin) == (State.CONFIRMED, Origin.PERSON)


def test_rules_and_lineage_leave_each_others_suggestions() -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    offer(claim(field, rule="lineage"), fields=[field], origin=Origin.LINEAGE)
    offer(fields=[field], origin=Origin.LINEAGE)
    assert (open_row(field).origin, open_row(field).rule) == (Origin.RULE, "r")


def test_many_are_accepted_and_rejected_with_as_many_statements_as_few(steward: User) -> None:
    counts = []
    for size in (100, 400):
        fields = columns(size)
        claims = [claim(field) for field in fields]
        with CaptureQueriesContext(connection) as offered:
            offer(*claims, fields=fields)
        rows = list(FieldTag.objects.filter(field__in=fields, until__isnull=True).order_by("pk"))
        half = size // 2
        with CaptureQueriesContext(connection) as decided:
            tagging.decide(accept=rows[:half], reject_with=dict.fromkeys(rows[half:], "no"), by=steward)
        counts.append((len(offered), len(decided)))
        states = FieldTag.objects.filter(field__in=fields, until__isnull=True).values_list("state", flat=True)
        assert sorted(states) == ["confirmed"] * half + ["rejected"] * (size - half)
    assert counts[0] == counts[1]


def test_the_wrong_tag_is_changed_in_one_batch(steward: User) -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    made = tagging.change(open_row(field), tag("kind_y"), by=steward)
    assert (made.state, made.tag.code) == (State.CONFIRMED, "kind_y")
    assert FieldTag.objects.get(tag=tag(), until__isnull=True).reason == "Wrong tag: it is kind_y"
    assert AuditEntry.objects.filter(batch=made.batch).count() == 2
    (other,) = columns()
    offer(claim(other), fields=[other])
    waiting = open_row(other)
    with pytest.raises(Invalid):
        tagging.change(waiting, tag(), by=steward)


def test_one_stale_suggestion_stops_all(steward: User) -> None:
    first, second = columns(2)
    offer(claim(first), claim(second), fields=[first, second])
    rows = list(FieldTag.objects.filter(until__isnull=True))
    tagging.confirm(second, tag(), by=steward)
    with pytest.raises(Conflict):
        tagging.accept(rows, by=steward)
    assert open_row(first).state == State.SUGGESTED


def test_removing_takes_two_people_and_an_approver(steward: User) -> None:
    (field,) = columns()
    row = tagging.confirm(field, tag(), by=steward)
    asked = tagging.remove(row, by=steward, reason="It is a test table")
    assert (asked.state, asked.removal_by, asked.until) == (State.CONFIRMED, steward, None)
    with pytest.raises(Forbidden) as same:
        tagging.remove(row, by=steward)
    assert same.value.code == "FOUR_EYES_REQUIRED"
    with pytest.raises(Forbidden):
        tagging.remove(row, by=make_user("steward"))
    approver = make_user("approver")
    gone = tagging.remove(row, by=approver)
    assert (gone.state, gone.decided_by, gone.second_by) == (State.REMOVED, steward, approver)
    assert gone.reason == "It is a test table"
    with pytest.raises(NotFound):
        tagging.remove(row, by=approver)


def test_what_people_put_and_people_removed_no_rule_brings_back(steward: User) -> None:
    (field,) = columns()
    row = tagging.confirm(field, tag(), by=steward)
    tagging.remove(row, by=steward)
    tagging.remove(row, by=make_user("approver"))
    assert offer(claim(field, version="9"), fields=[field]).held == 1


def test_a_removal_is_called_off(steward: User) -> None:
    (field,) = columns()
    row = tagging.confirm(field, tag(), by=steward)
    with pytest.raises(NotFound):
        tagging.keep(row, by=steward)
    tagging.remove(row, by=steward)
    kept = tagging.keep(row, by=make_user("approver"))
    assert (kept.state, kept.removal_by, kept.removal_at) == (State.CONFIRMED, None, None)
    tagging.remove(row, by=make_user("approver"))
    assert open_row(field).state == State.CONFIRMED


def test_with_four_eyes_off_one_person_removes(steward: User, settings: Any) -> None:
    settings.AIDE_FOUR_EYES = "off"
    (field,) = columns()
    gone = tagging.remove(tagging.confirm(field, tag(), by=steward), by=steward, reason="no")
    assert (gone.state, gone.second_by) == (State.REMOVED, None)


def test_a_batch_is_undone_as_one_but_for_what_was_decided(steward: User) -> None:
    fields = columns(3)
    offer(*(claim(field) for field in fields), fields=fields, origin=Origin.LINEAGE, batch="b1")
    tagging.accept([open_row(fields[0])], by=steward)
    undone = tagging.undo("b1", by=steward)
    assert (undone.undone, undone.settled) == (2, 1)
    assert [open_row(field).state for field in fields] == [State.CONFIRMED, State.REJECTED, State.REJECTED]
    assert offer(*(claim(f) for f in fields), fields=fields, origin=Origin.LINEAGE, batch="b2").held == 2
    with pytest.raises(NotFound):
        tagging.undo("nothing", by=steward)


@pytest.mark.parametrize(
    "values",
    [
        {"state": State.CONFIRMED},
        {"state": State.REMOVED},
        {"state": State.REJECTED, "reason": "no"},
        {"state": State.REJECTED, "person": True, "reason": ""},
        {"state": State.SUGGESTED, "person": True},
        {"state": State.SUGGESTED, "asked": True},
        {"state": State.REMOVED, "person": True, "second": True},
    ],
)
def test_the_database_itself_refuses_what_no_person_decided(values: dict[str, Any], steward: User) -> None:
    (field,) = columns()
    row = FieldTag(
        field=field, tag=tag(), state=values["state"], reason=values.get("reason", ""), since=timezone.now()
    )
    if values.get("person"):
        row.decided_by, row.decided_at = steward, timezone.now()
    if values.get("second"):
        row.second_by = steward
    if values.get("asked"):
        row.removal_by, row.removal_at = steward, timezone.now()
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()


def test_no_reason_no_rejection(steward: User) -> None:
    (field,) = columns()
    offer(claim(field), fields=[field])
    with pytest.raises(DomainError):
        tagging.reject(open_row(field), reason="  ", by=steward)
    assert open_row(field).state == State.SUGGESTED
