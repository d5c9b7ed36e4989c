"""Renames are found where servers leave evidence, and never made up."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from crawling.diff import Context, compare, diff, pair, pair_datasets, split, split_datasets
from registry.documents import clean
from registry.seeding import bundled_catalogue
from tests.crawling.generated import ENTITIES, Generator

POSTGRESQL = bundled_catalogue("postgresql")


def _everything(name: str) -> bool:
    return True


def _ratio(found: set[Any], true: set[Any]) -> tuple[float, float]:
    right = len(found & true)
    return right / max(len(found), 1), right / max(len(true), 1)


@pytest.mark.parametrize("numbered", [True, False], ids=["with-column-numbers", "without-column-numbers"])
def test_generated_column_renames(numbered):
    generator = Generator(11, numbered=numbered)
    found, true = set(), set()
    for n in range(1500):
        before = generator.table("t")
        after, renames = generator.changed(before)
        true |= {(n, *each) for each in renames}
        for change in diff(before, after, catalogue=None):
            if change.op == "rename_field":
                found.add((n, change.before, change.after))
    precision, recall = _ratio(found, true)
    assert len(true) > 800
    assert precision >= 0.99, (precision, recall, sorted(found - true)[:10])
    assert recall >= 0.90, (precision, recall, sorted(true - found)[:10])


@pytest.mark.parametrize("numbered", [True, False], ids=["with-column-numbers", "without-column-numbers"])
def test_generated_table_renames(numbered):
    generator = Generator(12, numbered=numbered)
    found, true = set(), set()
    for n in range(100):
        names = generator.random.sample(ENTITIES, 16)
        before = {f"shop.{name}": generator.table(name) for name in names[:10]}
        after = dict(before)
        for old, new in zip(names[:4], names[10:14], strict=True):
            moved = copy.deepcopy(after.pop(f"shop.{old}"))
            if generator.random.random() < 0.5:
                moved["name"] = new if generator.random.random() < 0.5 else f"{old}_archive"
            else:
                moved["schema"] = "mart"
            if generator.random.random() < 0.3:
                moved, _ = generator.changed(moved)
            name = f"{moved['schema']}.{moved['name']}"
            after[name] = moved
            true.add((n, f"shop.{old}", name))
        for old, new in zip(names[4:6], names[14:16], strict=True):
            del after[f"shop.{old}"]
            after[f"shop.{new}"] = generator.table(new)
        for each in compare(before, after, catalogue=None, covered=_everything):
            for change in each.changes:
                if change.op in ("rename_dataset", "move_dataset"):
                    found.add((n, change.before, change.after))
    precision, recall = _ratio(found, true)
    assert precision >= 0.99, (precision, recall, sorted(found - true)[:10])
    assert recall >= 0.90, (precision, recall, sorted(true - found)[:10])


def _table(*fields: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return clean({"schema": "s", "name": "t", "fields": list(fields), **rest})


def _field(name: str, native: str = "text", **rest: Any) -> dict[str, Any]:
    return {"name": name, "native_type": native, **rest}


BEFORE = _table(
    _field("id", "bigint", nullable=False, native_position=1),
    _field("mail", "character varying(80)", native_position=2, comment="how to reach them"),
    _field("born", "date", native_position=4),
    primary_key={"name": "t_pkey", "columns": ["id"]},
    unique=[{"name": "u", "columns": ["mail"], "kind": "constraint", "predicate": "(mail IS NOT NULL)"}],
    foreign_keys=[
        {"name": "f", "columns": ["mail"], "ref_schema": "s", "ref_table": "t", "ref_columns": ["mail"]}
    ],
)


def _renamed(**changes: Any) -> dict[str, Any]:
    after = copy.deepcopy(BEFORE)
    after["fields"][1] |= {"name": "email"} | changes
    after["unique"][0] |= {"columns": ["email"], "predicate": "(email IS NOT NULL)"}
    after["foreign_keys"][0] |= {"columns": ["email"], "ref_columns": ["email"]}
    return after


def test_a_rename_takes_its_keys_and_expressions_along():
    (change,) = diff(BEFORE, _renamed(), catalogue=POSTGRESQL)
    assert (change.op, change.field, change.before, change.after) == ("rename_field", "mail", "mail", "email")
    assert {entry["code"] for entry in change.evidence} == {
        "same_native_position",
        "same_type",
        "gone_and_new",
    }


def test_what_else_changed_in_a_renamed_column_requires_the_rename():
    after = _renamed(native_type="text", nullable=False, comment="moved")
    rename, *rest = diff(BEFORE, after, catalogue=POSTGRESQL)
    assert rename.op == "rename_field"
    assert {(c.op, c.field, c.risk) for c in rest} == {
        ("change_type", "email", "safe"),
        ("change_nullable", "email", "risky"),
        ("change_comment", "email", "safe"),
    }
    assert all(change.requires == (rename.fingerprint,) for change in rest)


def test_tags_and_readers_of_a_renamed_column_are_looked_up_by_its_old_name():
    context = Context(readers={("s.t", "mail"): 4}, pii={("s.t", "mail"): ("email",)})
    rename, nullable = diff(
        {**BEFORE, "fields": [{**f, "nullable": False} for f in BEFORE["fields"]]},
        _renamed(nullable=True) | {"fields": [
            {**f, "nullable": f["name"] == "email"} for f in _renamed()["fields"]
        ]},
        catalogue=POSTGRESQL,
        context=context,
    )  # fmt: skip
    assert "4 readers" in rename.why
    assert rename.touches_pii
    assert (nullable.op, nullable.risk) == ("change_nullable", "risky")
    assert nullable.touches_pii


def test_another_column_number_means_another_column():
    after = copy.deepcopy(BEFORE)
    after["fields"][2] = {**after["fields"][2], "name": "birth", "native_position": 5}
    changes = diff(BEFORE, after, catalogue=POSTGRESQL)
    assert {change.op for change in changes} == {"drop_field", "add_field"}


def test_two_candidates_are_left_to_a_person():
    before = _table(_field("id"), _field("x"), _field("y"), _field("z", "date"))
    after = _table(_field("id"), _field("p"), _field("q"), _field("z", "date"))
    changes = diff(before, after, catalogue=POSTGRESQL)
    assert sorted(change.op for change in changes) == ["add_field", "add_field", "drop_field", "drop_field"]


def test_a_person_can_split_a_rename_and_pair_it_again():
    after = _renamed()
    args = {"before": BEFORE, "after": after, "catalogue": POSTGRESQL}
    changes = diff(BEFORE, after, catalogue=POSTGRESQL)
    apart = split(changes, changes[0], **args)
    by_op = {change.op: change for change in apart}
    assert set(by_op) == {"drop_field", "add_field", "drop_unique", "add_unique", "change_foreign_key"}
    assert by_op["drop_unique"].fingerprint in by_op["drop_field"].requires
    assert by_op["add_field"].fingerprint in by_op["add_unique"].requires
    (again,) = pair(apart, by_op["drop_field"], by_op["add_field"], **args)
    assert again.op == "rename_field"
    assert again.fingerprint == changes[0].fingerprint


def test_a_person_cannot_pair_columns_of_different_levels():
    inner = _table(_field("a", "struct<b:int>", fields=[_field("b", "int")]), _field("c"))
    outer = _table(_field("a", "struct<b:int>", fields=[_field("d", "int")]))
    changes = {
        change.op: change
        for change in diff(inner, outer, catalogue=None, renames={})
        if change.field != "a.b"
    }
    with pytest.raises(ValueError, match="same level"):
        pair((), changes["drop_field"], changes["add_field"], before=inner, after=outer, catalogue=None)


def test_nested_fields_are_renamed_within_their_parent():
    before = _table(_field("a", "struct<b:int>", fields=[_field("b", "int", comment="the one"), _field("c")]))
    after = _table(
        _field("a", "struct<bb:int>", fields=[_field("bb", "int", comment="the one"), _field("c")])
    )
    (change,) = diff(before, after, catalogue=None)
    assert (change.op, change.field, change.after) == ("rename_field", "a.b", "bb")


def _called_person() -> dict[str, Any]:
    after = copy.deepcopy(BEFORE) | {"name": "person"}
    after["foreign_keys"][0]["ref_table"] = "person"
    return after


def test_a_table_outside_of_the_coverage_is_neither_dropped_nor_renamed():
    before = {"s.t": BEFORE}
    after = {"s.person": _called_person()}
    (only,) = compare(before, after, catalogue=POSTGRESQL, covered=lambda name: False)
    assert [change.op for change in only.changes] == ["add_dataset"]
    (both,) = compare(before, after, catalogue=POSTGRESQL, covered=_everything)
    assert [change.op for change in both.changes] == ["rename_dataset"]
    assert (both.before_name, both.after_name, both.risk) == ("s.t", "s.person", "breaking")


def test_a_renamed_dataset_can_be_split_and_paired_again():
    before, after = {"s.t": BEFORE}, {"s.person": _called_person()}
    (renamed,) = compare(before, after, catalogue=POSTGRESQL, covered=_everything)
    gone, new = split_datasets(renamed, catalogue=POSTGRESQL)
    assert ([c.op for c in gone.changes], [c.op for c in new.changes]) == (["drop_dataset"], ["add_dataset"])
    again = pair_datasets(gone, new, catalogue=POSTGRESQL)
    assert [c.fingerprint for c in again.changes] == [c.fingerprint for c in renamed.changes]


def test_foreign_keys_that_follow_a_rename_elsewhere_are_risky_and_say_so():
    def child(table: str) -> dict[str, Any]:
        key = {"name": "f", "columns": ["x"], "ref_schema": "s", "ref_table": table, "ref_columns": ["id"]}
        return clean({"schema": "s", "name": "c", "fields": [_field("x")], "foreign_keys": [key]})

    before = {"s.t": BEFORE, "s.c": child("t")}
    after = {"s.person": _called_person(), "s.c": child("person")}
    changes = {
        c.op: c
        for each in compare(before, after, catalogue=POSTGRESQL, covered=_everything)
        for c in each.changes
    }
    assert changes["change_foreign_key"].rule == "foreign_key_follows"
    assert changes["change_foreign_key"].risk == "risky"


def test_a_table_that_was_attached_as_a_partition_is_told_so():
    fields = [{"name": n, "native_type": t} for n, t in (("at", "date"), ("v", "integer"))]
    whole = clean({"schema": "s", "name": "log", "kind": "partitioned_table", "fields": fields})
    alone = clean({"schema": "s", "name": "log_old", "kind": "table", "fields": fields})
    other = clean({"schema": "s", "name": "other", "kind": "table", "fields": fields[:1]})

    gone = compare(
        {"s.log": whole, "s.log_old": alone, "s.other": other},
        {"s.log": whole},
        catalogue=POSTGRESQL,
        covered=_everything,
    )

    said = {each.name: each.changes[0].evidence for each in gone}
    assert said["s.other"] == ()
    assert [(each["code"], each["partner"]) for each in said["s.log_old"]] == [("may_be_partition", "s.log")]
