"""What real servers reported before and after a statement gives exactly the changes that the statement made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crawling.diff import DatasetDiff, apply, compare
from registry.documents import canonical, clean, fingerprint
from registry.locations import dataset_name
from registry.seeding import bundled_catalogue

CASES = Path(__file__).parent / "cases"
DIALECTS = ("postgresql", "mariadb", "sqlite")

# file: {(op, dataset, field): risk}
EXPECTED: dict[str, dict[tuple[str, str, str | None], str]] = {
    "mariadb_comment_charset": {
        ("change_comment", "m25.t", "a"): "safe",
        ("change_parameters", "m25.t", "b"): "risky",
        ("change_on_update", "m25.t", "c"): "risky",
    },
    "mariadb_rename_and_key": {
        ("drop_field", "m29.t", "old"): "breaking",
        ("add_field", "m29.t", "new"): "risky",
        ("change_primary_key", "m29.t", None): "breaking",
        ("drop_dataset", "m29.a", None): "breaking",
        ("add_dataset", "m29.b", None): "safe",
    },
    "postgresql_domain_altered": {
        ("change_parameters", "public.t", "a"): "risky",
        ("change_nullable", "public.t", "a"): "risky",
    },
    "postgresql_dropped_and_recreated": {},
    "postgresql_enum_changed": {
        ("change_parameters", "public.t", "s"): "risky",
        ("change_parameters", "public.t", "hist"): "risky",
    },
    "postgresql_foreign_key_and_unique_changed": {
        ("change_foreign_key", "public.c", None): "risky",
        ("drop_unique", "public.c", None): "breaking",
    },
    "postgresql_moved_schema": {("move_dataset", "stage.t", None): "breaking"},
    "postgresql_primary_key_changed": {
        ("change_primary_key", "public.t", None): "breaking",
        ("change_nullable", "public.t", "region"): "risky",
    },
    "postgresql_rename_column": {("rename_field", "public.person", "mail"): "breaking"},
    "postgresql_type_and_nullability": {
        ("change_type", "public.t", "n"): "safe",
        ("change_type", "public.t", "u"): "breaking",
        ("change_nullable", "public.t", "a"): "risky",
        ("change_nullable", "public.t", "b"): "safe",
    },
    "postgresql_view_extended": {("add_field", "public.v", "c"): "safe"},
    "sqlite_added_column": {
        ("add_field", "main.t", "d"): "safe",
        ("add_field", "main.t", "g"): "safe",
    },
}


def _case(name: str) -> tuple[dict[str, Any], dict[str, Any], Any]:
    case = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    sides = [{dataset_name(d): clean(d) for d in case[side]} for side in ("before", "after")]
    return sides[0], sides[1], bundled_catalogue(case["flavor"])


def _compared(name: str) -> tuple[DatasetDiff, ...]:
    before, after, catalogue = _case(name)
    return compare(before, after, catalogue=catalogue, covered=lambda name: True)


def test_every_case_is_expected():
    assert {path.stem for path in CASES.glob("*.json")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_case_gives_exactly_its_changes(name):
    found = {(c.op, c.dataset, c.field): c.risk for each in _compared(name) for c in each.changes}
    assert found == EXPECTED[name]
    assert sum(len(each.changes) for each in _compared(name)) == len(found)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_applying_all_changes_of_a_case_gives_the_source(name):
    _, _, catalogue = _case(name)
    for each in _compared(name):
        made = apply(each.before, each.changes, catalogue=catalogue)
        followed = apply(each.before, each.changes, after=each.after, catalogue=catalogue)
        assert followed == each.after
        if each.after is not None:
            assert canonical(made, catalogue=catalogue) == canonical(each.after, catalogue=catalogue)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_case_compared_with_itself_is_quiet(name):
    before, after, catalogue = _case(name)
    for side in (before, after):
        copy = json.loads(json.dumps(side))
        assert compare(side, copy, catalogue=catalogue, covered=lambda name: True) == ()
        for key, document in side.items():
            assert fingerprint(document, catalogue=catalogue) == fingerprint(copy[key], catalogue=catalogue)


def test_an_uncertain_rename_is_mentioned_on_both_ends():
    changes = {(c.op, c.field): c for each in _compared("mariadb_rename_and_key") for c in each.changes}
    assert changes["drop_field", "old"].evidence[0]["partner"] == "new"
    assert changes["add_field", "new"].evidence[0]["partner"] == "old"
    assert changes["drop_dataset", None].evidence[0]["partner"] == "m29.b"
    assert changes["add_dataset", None].evidence[0]["partner"] == "m29.a"


def test_a_key_on_a_new_column_requires_the_column():
    changes = {
        c.op: c for each in _compared("mariadb_rename_and_key") for c in each.changes if c.field or c.after
    }
    assert changes["add_field"].fingerprint in changes["change_primary_key"].requires


def test_a_key_requires_that_its_columns_are_required():
    changes = {c.op: c for each in _compared("postgresql_primary_key_changed") for c in each.changes}
    assert changes["change_primary_key"].requires == (changes["change_nullable"].fingerprint,)
    assert changes["change_nullable"].requires == ()
