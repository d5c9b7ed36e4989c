"""Whatever rules, lineage and people do in whatever order: no tag takes effect without an accepting person, none goes
without two, and nothing that was refused comes back without a cause."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from aide.core.errors import DomainError
from registry import tagging
from registry.models import Field, FieldTag, PIITag
from registry.reading import confirmed_tags
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db
State, Origin = FieldTag.State, FieldTag.Origin
PLACES = [(field, tag) for field in range(3) for tag in range(2)]
PEOPLE = ("steward", "other steward", "approver")
said = st.tuples(
    st.sampled_from(["r", "s"]), st.sampled_from("123"), st.sampled_from(["name", "type", "values"])
)
places, people = st.sampled_from(PLACES), st.sampled_from(PEOPLE)


class Tagging(RuleBasedStateMachine):
    """The rules of `registry.tagging` against a memory of who did what."""

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.dataset = make_dataset(system=make_system())
        publish(self.dataset, *((f"c{n}", "text") for n in range(3)))
        rows = Field.objects.filter(dataset=self.dataset).select_related("dataset__system").order_by("pk")
        self.fields = list(rows)
        self.tags = [PIITag.objects.create(code=f"kind_{n}", name="Kind", sensitivity=1) for n in range(2)]
        self.people = {name: make_user(name.split()[-1]) for name in PEOPLE}
        self.accepted: dict[tuple[int, int], str] = {}
        self.asked: dict[tuple[int, int], str] = {}
        self.refused: dict[tuple[int, int], list[tuple[str, str, str]]] = defaultdict(list)
        self.batches: list[str] = []

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.outer.__exit__(None, None, None)

    def open_row(self, place: tuple[int, int]) -> FieldTag | None:
        field, tag = self.fields[place[0]], self.tags[place[1]]
        rows = FieldTag.objects.select_related("field__dataset__system", "tag", "removal_by")
        return rows.filter(field=field, tag=tag, until=None).first()

    def suggested(self, place: tuple[int, int]) -> FieldTag | None:
        row = self.open_row(place)
        return row if row is not None and row.state == State.SUGGESTED else None

    def offer(self, claims: dict[tuple[int, int], Any], origin: Origin, batch: str = "") -> None:
        made = [
            tagging.Claim(
                self.fields[field].pk, self.tags[tag].pk, rule=name, rule_version=version, evidence=evidence,
                native_type="text", confidence=0.8,
            )
            for (field, tag), (name, version, evidence) in claims.items()
        ]  # fmt: skip
        tagging.offer(made, fields=[field.pk for field in self.fields], origin=origin, batch=batch)

    def no(self, place: tuple[int, int], row: FieldTag) -> None:
        self.refused[place].append((row.rule, row.rule_version, row.evidence))

    @rule(claims=st.dictionaries(places, said))
    def rules_say(self, claims: dict[tuple[int, int], Any]) -> None:
        self.offer(claims, Origin.RULE)

    @rule(claims=st.dictionaries(places, said))
    def lineage_says(self, claims: dict[tuple[int, int], Any]) -> None:
        self.batches.append(f"b{len(self.batches)}")
        self.offer(claims, Origin.LINEAGE, batch=self.batches[-1])

    @rule(place=places, who=people)
    def accept(self, place: tuple[int, int], who: str) -> None:
        if (row := self.suggested(place)) is not None:
            tagging.accept([row], by=self.people[who])
            self.accepted[place] = who

    @rule(who=people)
    def accept_all(self, who: str) -> None:
        rows = {place: row for place in PLACES if (row := self.suggested(place)) is not None}
        tagging.accept(list(rows.values()), by=self.people[who])
        self.accepted.update(dict.fromkeys(rows, who))

    @rule(place=places, who=people)
    def reject(self, place: tuple[int, int], who: str) -> None:
        if (row := self.suggested(place)) is not None:
            tagging.reject(row, reason="no", by=self.people[who])
            self.no(place, row)

    @rule(field=st.sampled_from(range(3)), who=people)
    def change(self, field: int, who: str) -> None:
        if (row := self.suggested((field, 0))) is not None:
            tagging.change(row, self.tags[1], by=self.people[who])
            self.no((field, 0), row)
            self.accepted.setdefault((field, 1), who)

    @rule(place=places, who=people)
    def tag_by_hand(self, place: tuple[int, int], who: str) -> None:
        tagging.confirm(self.fields[place[0]], self.tags[place[1]], by=self.people[who])
        self.accepted.setdefault(place, who)

    @rule(place=places, who=people)
    def remove(self, place: tuple[int, int], who: str) -> None:
        row = self.open_row(place)
        if row is None:
            return
        before = self.asked.get(place)
        try:
            after = tagging.remove(row, by=self.people[who])
        except DomainError:
            return
        assert place in self.accepted
        if after.state == State.CONFIRMED:
            assert before is None
            self.asked[place] = who
        else:
            assert before not in (None, who)
            assert "approver" in (before, who)
            del self.accepted[place], self.asked[place]
            self.no(place, row)

    @precondition(lambda self: self.asked)
    @rule(place=places)
    def keep(self, place: tuple[int, int]) -> None:
        row = self.open_row(place)
        if row is not None and place in self.asked:
            tagging.keep(row, by=self.people["steward"])
            del self.asked[place]

    @rule(place=places, who=people)
    def reopen(self, place: tuple[int, int], who: str) -> None:
        row = self.open_row(place)
        if row is not None and row.state == State.REJECTED:
            tagging.reopen(row, by=self.people[who])
            removed = FieldTag.objects.filter(field=row.field, tag=row.tag, state=State.REMOVED)
            self.refused[place] = list(removed.values_list("rule", "rule_version", "evidence"))

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), who=people)
    def undo(self, data: Any, who: str) -> None:
        batch = data.draw(st.sampled_from(self.batches))
        waiting = {p: row for p in PLACES if (row := self.suggested(p)) is not None and row.batch == batch}
        try:
            tagging.undo(batch, by=self.people[who])
        except DomainError:
            assert not waiting
            return
        for place, row in waiting.items():
            self.no(place, row)

    @invariant()
    def nothing_takes_effect_without_a_person(self) -> None:
        shown = confirmed_tags(self.dataset.pk)
        expected: dict[int, list[str]] = defaultdict(list)
        for field, tag in self.accepted:
            expected[self.fields[field].pk].append(self.tags[tag].code)
        assert {pk: sorted(codes) for pk, codes in shown.items() if codes} == {
            pk: sorted(codes) for pk, codes in expected.items()
        }
        for row in FieldTag.objects.filter(until=None, state=State.CONFIRMED).select_related("decided_by"):
            place = self.place_of(row)
            assert row.decided_by == self.people[self.accepted[place]]

    @invariant()
    def nothing_refused_comes_back_without_a_cause(self) -> None:
        for row in FieldTag.objects.filter(until=None, state=State.SUGGESTED):
            assert row.decided_by_id is None
            for name, version, evidence in self.refused[self.place_of(row)]:
                assert name, "a tag that people put and people removed came back"
                assert (name, version) != (row.rule, row.rule_version)
                assert evidence != row.evidence
                assert row.returned

    def place_of(self, row: FieldTag) -> tuple[int, int]:
        fields = [field.pk for field in self.fields]
        return fields.index(row.field_id), [tag.pk for tag in self.tags].index(row.tag_id)


CALM = {
    "deadline": None,
    "database": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}


def test_a_few_hundred_actions() -> None:
    run_state_machine_as_test(Tagging, settings=settings(max_examples=6, stateful_step_count=30, **CALM))


@pytest.mark.nightly
@pytest.mark.slow
def test_ten_thousand_actions() -> None:
    run_state_machine_as_test(Tagging, settings=settings(max_examples=200, stateful_step_count=50, **CALM))
