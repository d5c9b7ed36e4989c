"""The crawl report tells every change once, as JSON and as text."""

from __future__ import annotations

import json
from typing import Any

from crawling.diff import compare
from crawling.report import SECTIONS, build, has_changes, text
from registry.documents import clean
from registry.seeding import bundled_catalogue


def document(name: str, *fields: tuple[str, str], **rest: Any) -> dict[str, Any]:
    return clean(
        {"schema": "s", "name": name, "fields": [{"name": n, "native_type": t} for n, t in fields], **rest}
    )


BEFORE = {
    "s.old": document("old", ("a", "date"), ("b", "uuid")),
    "s.t": document("t", ("id", "integer"), ("gone", "text"), ("note", "varchar(20)"), ("kept", "date")),
    "s.same": document("same", ("id", "integer")),
}
AFTER = {
    "s.t": document(
        "t", ("id", "bigint"), ("note", "varchar(20)"), ("kept", "date"), ("come", "boolean"), comment="x"
    ),
    "s.v": document("v", ("a", "integer"), kind="view"),
    "s.w": document("w", ("p", "integer"), ("q", "integer"), ("r", "inet")),
    "s.same": document("same", ("id", "integer")),
}
COVERAGE = {
    "schemas": [
        {"name": "s", "status": "listed"},
        {"name": "x.y", "status": "failed", "reason": "Not allowed."},
    ],
    "listed": 5,
    "read": 4,
    "skipped": [{"schema": "s", "name": "part", "reason": "A partition."}],
    "failed": [{"schema": "s", "name": "locked", "reason": "It was locked."}],
}


def report(before: Any = BEFORE, after: Any = AFTER, **rest: Any) -> dict[str, Any]:
    found = compare(before, after, catalogue=bundled_catalogue("postgresql"), covered=lambda name: True)
    return build(found, system="crm", run_id=7, **rest)


def test_every_category_of_the_json_report():
    unmapped = [{"dataset": "s.w", "field": "r", "type": "frob"}]
    found = report(coverage=COVERAGE, unmapped=unmapped)
    assert json.loads(json.dumps(found)) == found
    assert (found["schema_version"], found["system"], found["run_id"]) == (1, "crm", 7)
    assert found["new_datasets"] == [
        {"object_name": "s.v", "schema": "s", "table": "v", "is_view": True, "fields_count": 1},
        {"object_name": "s.w", "schema": "s", "table": "w", "is_view": False, "fields_count": 3},
    ]
    assert [each["object_name"] for each in found["removed_datasets"]] == ["s.old"]
    assert found["new_fields"] == {"s.t": [{"name": "come", "type": "boolean"}]}
    assert found["removed_fields"] == {"s.t": [{"name": "gone", "type": "text"}]}
    (change,) = found["type_changes"]
    assert (change["dataset"], change["field"], change["old_type"], change["new_type"]) == (
        "s.t", "id", "integer", "bigint",
    )  # fmt: skip
    (other,) = found["other_changes"]
    assert (other["op"], other["after"], other["risk"]) == ("change_comment", "x", "safe")
    assert found["unmapped_types"] == unmapped
    assert found["skipped"] == [
        {"object": '"x.y"', "reason": "Not allowed."},
        {"object": "s.locked", "reason": "It was locked."},
        {"object": "s.part", "reason": "A partition."},
    ]
    assert found["summary"] == {
        "new_datasets": 2, "removed_datasets": 1, "renames": 0, "new_fields": 1, "removed_fields": 1,
        "type_changes": 1, "other_changes": 1, "unmapped_types": 1, "skipped": 3,
    }  # fmt: skip
    assert has_changes(found)


def test_the_text_report_has_a_section_for_each_category_that_is_not_empty():
    lines = text(report(coverage=COVERAGE)).splitlines()
    assert lines[0] == "=== AIDE Crawler Diff Report ==="
    assert "--- New datasets (2) ---" in lines
    assert "+ s.v (view, 1 column)" in lines
    assert "- s.old (table, 2 columns)" in lines
    assert "+ s.t: come boolean" in lines
    assert "- s.t: gone text" in lines
    assert "~ s.t: id integer -> bigint (safe)" in lines
    assert "~ s.t comment: none -> x (safe)" in lines
    assert "~ s.locked: It was locked." in lines
    assert not any(line.startswith(("--- Renames", "--- Unmapped")) for line in lines)
    assert "--- Summary ---" in lines


def test_an_unchanged_source_still_gives_a_summary():
    found = report(before=AFTER)
    assert not has_changes(found)
    assert set(found["summary"].values()) == {0}
    lines = text(found).splitlines()
    assert [line for line in lines if line.startswith("---")] == ["--- Summary ---"]
    assert lines[-1] == "No changes."


def test_renames_of_columns_and_datasets():
    columns = [
        ("id", "integer"),
        ("phone", "varchar(32)"),
        ("born", "date"),
        ("seen", "date"),
        ("seen_at", "uuid"),
    ]
    changed = [("id", "integer"), ("mobile_phone", "varchar(32)"), *columns[2:]]
    found = report(before={"s.a": document("a", *columns)}, after={"s.a": document("a", *changed)})
    (column,) = found["renames"]
    assert (column["field"], column["from"], column["to"]) == ("phone", "phone", "mobile_phone")
    assert "same type varchar(32)" in column["evidence"]
    assert "~ s.a: phone -> mobile_phone" in text(found).splitlines()
    moved = report(before={"s.a": document("a", *columns)}, after={"s.b": document("b", *columns)})
    assert (moved["renames"][0]["from"], moved["renames"][0]["to"]) == ("s.a", "s.b")
    assert "~ s.a -> s.b" in text(moved).splitlines()


def test_a_type_that_is_spelled_the_same_tells_what_differs():
    def labelled(values: list[str]) -> dict[str, Any]:
        column = {"name": "s", "native_type": "lvl", "type_kind": "enum", "parameters": {"values": values}}
        return {"s.t": clean({"schema": "s", "name": "t", "fields": [column]})}

    (change,) = report(before=labelled(["a"]), after=labelled(["a", "b"]))["type_changes"]
    assert (change["old_type"], change["new_type"]) == ("lvl (values (a))", "lvl (values (a, b))")


def test_names_cannot_break_the_lines_of_the_text():
    odd = {"s.x": document("x\n--- Summary ---", ("a\x1b[31m", "integer"))}
    found = report(before={}, after={"s.x\n--- Summary ---": odd["s.x"]})
    assert text(found).count("\n--- Summary ---") == 1
    assert "\x1b" not in text(found)


def test_every_section_has_a_title_and_a_count():
    assert set(report()["summary"]) == {category for category, _ in SECTIONS}
