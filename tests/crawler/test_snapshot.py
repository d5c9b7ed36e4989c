"""The JSON of a snapshot, read back with care."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aide_crawler import Coverage, ObjectCoverage, SchemaCoverage, Scope, Snapshot, SnapshotInvalid


def _snapshot() -> Snapshot:
    return Snapshot(
        "postgresql",
        "shop",
        Scope(tables=("a*",)),
        ({"schema": "s", "name": "a", "fields": []}, {"schema": "s", "name": "b", "fields": []}),
        Coverage(
            (SchemaCoverage("s"), SchemaCoverage("t", "failed", "It is locked.")),
            3,
            2,
            (ObjectCoverage("s", "v", "It is broken."),),
            (ObjectCoverage("s", "c", "It is locked."),),
            all_schemas=True,
        ),
    )


def test_a_snapshot_survives_its_json() -> None:
    snapshot = _snapshot()

    assert Snapshot.from_dict(json.loads(json.dumps(snapshot.to_dict()))) == snapshot


def test_coverage_says_of_which_schemas_a_missing_table_is_gone() -> None:
    coverage = _snapshot().coverage

    assert coverage.shows_schema("s")
    assert not coverage.shows_schema("t")
    assert coverage.shows_schema("dropped as a whole")
    assert not Coverage((SchemaCoverage("s"),)).shows_schema("perhaps hidden")


def test_coverage_is_complete_only_without_failures() -> None:
    assert Coverage((SchemaCoverage("s"),)).complete
    assert not Coverage((SchemaCoverage("s", "failed", "why"),)).complete
    assert not Coverage((SchemaCoverage("s"),), failed=(ObjectCoverage("s", "t", "why"),)).complete


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("snapshot_version", {"snapshot_version": 2}),
        ("snapshot_version", {"snapshot_version": True}),
        ("dialect", {"dialect": ""}),
        ("database", {"database": 7}),
        ("scope", {"scope": {"tables": ['"open']}}),
        ("scope", {"scope": ["a"]}),
        ("datasets", {"datasets": {}}),
        ("datasets[0]", {"datasets": ["a"]}),
        ("datasets[0].schema", {"datasets": [{"name": "a", "fields": []}]}),
        ("datasets[0].fields", {"datasets": [{"schema": "s", "name": "a"}]}),
        (
            "datasets[1]",
            {"datasets": [{"schema": "s", "name": "a", "fields": []}] * 2},
        ),
        ("coverage", {"coverage": None}),
        ("coverage.schemas", {"coverage": {}}),
        ("coverage.schemas[0].status", {"coverage": {"schemas": [{"name": "s", "status": "half"}]}}),
        ("coverage.listed", {"coverage": {"schemas": [], "listed": -1}}),
        (
            "coverage.failed[0].reason",
            {"coverage": {"schemas": [], "failed": [{"schema": "s", "name": "t"}]}},
        ),
    ],
)
def test_a_wrong_snapshot_is_refused_with_its_place(path: str, change: dict[str, Any]) -> None:
    with pytest.raises(SnapshotInvalid) as refused:
        Snapshot.from_dict({**_snapshot().to_dict(), **change})

    assert refused.value.path == path
    assert refused.value.sentence.endswith(".")


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_what_is_no_object_is_refused(document: Any) -> None:
    with pytest.raises(SnapshotInvalid):
        Snapshot.from_dict(document)
