"""Compares a snapshot with an expected one, and finds the cases on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aide_crawler import Snapshot

CASES = Path(__file__).with_name("cases")


@dataclass(frozen=True)
class Case:
    """One case: what is run at the server, and what a crawl must then answer."""

    name: str
    sql: str
    expected: Mapping[str, Any]
    next_sql: str | None

    @property
    def schema(self) -> str:
        return str(self.expected["datasets"][0]["schema"])


def cases(server: str) -> list[Case]:
    """All cases of a kind of server, by name."""
    found = []
    for path in sorted((CASES / server).glob("*.json")):
        step = path.with_suffix(".step2.sql")
        found.append(
            Case(
                path.stem,
                path.with_suffix(".sql").read_text(encoding="utf-8"),
                json.loads(path.read_text(encoding="utf-8")),
                step.read_text(encoding="utf-8") if step.exists() else None,
            )
        )
    return found


def assert_same(
    expected: Sequence[Mapping[str, Any]],
    snapshot: Snapshot,
    *,
    defaults_of_views: bool = True,
    ignored_attributes: tuple[str, ...] = ("partition_count",),
) -> None:
    """Fail with what differs. The order of datasets and of keys does not count, everything else does."""
    assert snapshot.coverage.complete, snapshot.coverage.to_dict()
    how = {"defaults_of_views": defaults_of_views, "ignored_attributes": ignored_attributes}
    wanted, found = _by_name(expected, **how), _by_name(snapshot.to_dict()["datasets"], **how)
    assert sorted(found) == sorted(wanted)
    for name in wanted:
        fields = found[name].pop("fields")
        for field, document in wanted[name].pop("fields").items():
            assert fields.pop(field, None) == document, (name, field)
        assert not fields, (name, "fields that should not be there")
        assert found[name] == wanted[name], name


def _by_name(
    datasets: Sequence[Mapping[str, Any]], *, defaults_of_views: bool, ignored_attributes: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for dataset in json.loads(json.dumps(datasets)):
        if dataset["kind"] == "view" and not defaults_of_views:
            for field in dataset["fields"]:
                field["default"] = None
        dataset["fields"] = {field["name"]: field for field in dataset["fields"]}
        for key in ("unique", "foreign_keys"):
            dataset[key].sort(key=lambda item: json.dumps(item, sort_keys=True))
        for key in ignored_attributes:
            dataset["attributes"].pop(key, None)
        found[f"{dataset['schema']} / {dataset['name']}"] = dataset
    return found
