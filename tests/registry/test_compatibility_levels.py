"""The verdict on a changed document, at every level, against labels that were written by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from registry.compatibility import LEVELS, Verdict, verdict
from registry.documents import clean
from registry.seeding import bundled_catalogue
from tests.registry.cases import type_changes
from tests.registry.cases.document_changes import DATASETS, EVOLUTIONS, FIELDS, Evolution, Labelled, table

FLAVORS = ("postgresql", "mariadb", "sqlite")
RISKS = ("safe", "risky", "breaking")
BASE = {"name": "id", "native_type": "bigint"}


def allowed(level: str, *, backward: bool, forward: bool) -> bool:
    """What the levels mean: FULL is both, and a transitive level with one earlier version is the plain one."""
    return {"NONE": True, "BACKWARD": backward, "FORWARD": forward, "FULL": backward and forward}[
        level.removesuffix("_TRANSITIVE")
    ]


def judge(before: Any, after: Any, level: str, *, flavor: str = "postgresql", **values: Any) -> Verdict:
    return verdict(clean(before), clean(after), level=level, catalogue=bundled_catalogue(flavor), **values)


def test_there_are_the_seven_levels():
    assert set(LEVELS) == {
        "NONE", "BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE", "FORWARD_TRANSITIVE", "FULL_TRANSITIVE",
    }  # fmt: skip


def test_there_are_enough_labelled_pairs():
    types = sum(1 for flavor in FLAVORS for _ in type_changes.pairs(flavor))
    assert types >= 300
    assert types + len(FIELDS) + len(DATASETS) + sum(1 for _ in combined()) >= 2000


@pytest.mark.parametrize("flavor", FLAVORS)
@pytest.mark.parametrize("level", LEVELS)
def test_any_two_types(flavor: str, level: str):
    wrong = []
    for old, new, backward, forward in type_changes.pairs(flavor):
        found = judge(
            {"fields": [{"name": "a", "native_type": old}]}, {"fields": [{"name": "a", "native_type": new}]},
            level, flavor=flavor,
        )  # fmt: skip
        expected = allowed(level, backward=backward, forward=forward)
        severities = {reason.severity for reason in found.reasons if reason.field == "a"}
        told = {(reason.old, reason.new) for reason in found.reasons}
        if (
            found.compatible is not expected
            or told != {(old, new)}
            or (level != "NONE" and ("breaking" in severities) is expected)
        ):
            wrong.append((old, new, found))
    assert wrong == []


def placed(labelled: Labelled, place: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The documents of a change of a field: alone beside an untouched one, nested, or beside a harmless change."""
    sides = []
    for which, field in enumerate((labelled.before, labelled.after)):
        fields = [field] if field is not None else []
        if place == "nested":
            inner = [BASE, *fields]
            sides.append({"fields": [{"name": "o.u", "native_type": "jsonb", "fields": inner}]})
        else:
            beside = [{"name": "new", "native_type": "text"}] if place == "beside" and which else []
            sides.append({"fields": [BASE, *fields, *beside]})
    return sides[0], sides[1]


@pytest.mark.parametrize("place", ["alone", "nested", "beside"])
@pytest.mark.parametrize("labelled", FIELDS, ids=lambda each: each.name)
def test_a_changed_field(labelled: Labelled, place: str):
    before, after = placed(labelled, place)
    path = '"o.u".x' if place == "nested" else "x"
    for level in LEVELS:
        found = judge(before, after, level)
        expected = allowed(level, backward=labelled.backward, forward=labelled.forward)
        assert found.compatible is expected, (level, found)
        about = [reason for reason in found.reasons if reason.field == path]
        assert (labelled.rule in {reason.rule for reason in about}) or (labelled.rule == "" and not about)
        assert found.risk == (labelled.risk if expected else "breaking"), (level, found)
        check_severities(found, level)


@pytest.mark.parametrize("labelled", DATASETS, ids=lambda each: each.name)
def test_a_changed_dataset(labelled: Labelled):
    for level in LEVELS:
        found = judge(labelled.before, labelled.after, level)
        expected = allowed(level, backward=labelled.backward, forward=labelled.forward)
        assert found.compatible is expected, (level, found)
        assert labelled.rule in {reason.rule for reason in found.reasons} | {""}
        assert bool(found.reasons) is bool(labelled.rule)
        assert found.risk == (labelled.risk if expected else "breaking")
        check_severities(found, level)


def check_severities(found: Verdict, level: str) -> None:
    """A level that allows a change finds nothing breaking in it, and the verdict is as grave as its reasons."""
    severities = {reason.severity for reason in found.reasons}
    assert severities <= set(RISKS)
    if level != "NONE":
        assert ("breaking" in severities) is not found.compatible
    assert all(RISKS.index(each) <= RISKS.index(found.risk) for each in severities)


def combined() -> Iterator[tuple[Labelled, Labelled]]:
    yield from itertools.combinations_with_replacement(FIELDS, 2)


@pytest.mark.parametrize("level", LEVELS)
def test_two_changes_are_allowed_where_both_are(level: str):
    wrong = []
    for one, other in combined():
        sides = []
        for first, second in ((one.before, other.before), (one.after, other.after)):
            fields = [BASE] + [
                field | {"name": name}
                for name, field in (("one", first), ("other", second))
                if field is not None
            ]
            sides.append({"fields": fields})
        found = judge(*sides, level)
        expected = all(allowed(level, backward=each.backward, forward=each.forward) for each in (one, other))
        breaking = {reason.field for reason in found.breaking} if level != "NONE" else set()
        blamed = {
            name
            for name, each in (("one", one), ("other", other))
            if not allowed(level, backward=each.backward, forward=each.forward)
        }
        if found.compatible is not expected or breaking != blamed:
            wrong.append((one.name, other.name, found))
    assert wrong == []


@pytest.mark.parametrize("evolution", EVOLUTIONS, ids=lambda each: each.name)
def test_a_transitive_level_names_each_version_that_breaks(evolution: Evolution):
    documents = [
        clean({"fields": [{"name": "a", "native_type": native}]}) | {"version": number}
        for number, native in enumerate(evolution.earlier, 1)
    ]
    after = clean({"fields": [{"name": "a", "native_type": evolution.new}]})
    for level in LEVELS:
        found = verdict(
            documents[-1], after, level=level, catalogue=bundled_catalogue("postgresql"),
            history=documents[-2::-1],
        )  # fmt: skip
        broken = evolution.broken.get(level.removesuffix("_TRANSITIVE"), ())
        if not level.endswith("_TRANSITIVE"):
            broken = tuple(number for number in broken if number == len(documents))
        if level == "NONE":
            broken = ()
        assert found.compatible is (not broken)
        if level != "NONE":
            assert tuple(reason.version for reason in found.breaking) == broken
            assert {(reason.field, reason.new) for reason in found.breaking} <= {("a", evolution.new)}


def test_the_order_of_fields_counts_in_files_only():
    one, other = {"name": "a", "native_type": "text"}, {"name": "b", "native_type": "text"}
    for after, expected in (
        ([other, one], False),
        ([one, other], True),
        ([one, {"name": "c", "native_type": "text"}, other], False),
        ([one, other, {"name": "c", "native_type": "text"}], True),
    ):
        found = judge({"fields": [one, other]}, {"fields": after}, "BACKWARD", positional=True)
        assert found.compatible is expected
        assert judge({"fields": [one, other]}, {"fields": after}, "BACKWARD").compatible


def test_what_looks_like_a_rename_is_always_said():
    before = table({"name": "phone", "native_type": "varchar(20)"}, BASE)
    after = table(BASE, {"name": "mobile", "native_type": "character varying(20)"})
    for level in LEVELS:
        (said,) = [each for each in judge(before, after, level).reasons if each.rule == "maybe_renamed"]
        assert (said.field, said.old, said.new, said.severity) == ("phone", "phone", "mobile", "risky")
    other = table(BASE, {"name": "mobile", "native_type": "text"})
    assert "maybe_renamed" not in {each.rule for each in judge(before, other, "NONE").reasons}
    many = table(BASE, *({"name": name, "native_type": "varchar(20)"} for name in ("one", "two")))
    assert "maybe_renamed" not in {each.rule for each in judge(before, many, "NONE").reasons}


def test_a_character_set_that_holds_more_is_allowed_as_far_as_it_fits():
    for old, new, backward, forward in (
        ("varchar(10) character set latin1", "varchar(10)", True, False),
        ("varchar(10) character set ascii", "varchar(10) character set latin1", True, False),
        ("varchar(10) character set latin1", "varchar(10) character set latin2", False, False),
        ("varchar(10)", "varchar(10) collate utf8mb4_bin", True, True),
        ("varchar(64) character set latin1", "tinytext character set latin1", True, False),
        ("tinytext character set latin1", "text", True, False),
        ("text character set latin1", "text", False, False),
    ):
        sides = [{"fields": [{"name": "a", "native_type": each}]} for each in (old, new)]
        for level, expected in (("BACKWARD", backward), ("FORWARD", forward)):
            assert judge(*sides, level, flavor="mariadb").compatible is expected, (old, new, level)


def test_nothing_before_is_compatible_with_everything():
    after = clean(table())
    for level in LEVELS:
        found = verdict(None, after, level=level, catalogue=bundled_catalogue("postgresql"))
        assert found == Verdict(compatible=True, risk="safe", reasons=())


@pytest.mark.parametrize("level", ["", "backward", "BOTH", "NONE_TRANSITIVE"])
def test_an_unknown_level_is_refused(level: str):
    with pytest.raises(ValueError, match="no level"):
        judge(table(), table(), level)
