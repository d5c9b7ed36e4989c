"""The crawler's cases with a second step give exactly the changes that the step made, and none besides."""

from __future__ import annotations

from typing import Any

import pytest

from crawling.diff import compare
from registry.documents import clean
from registry.locations import dataset_name
from registry.seeding import bundled_catalogue
from tests.crawler.comparison import Case, cases

CASES = [
    pytest.param(server, case, id=f"{server}-{case.name}")
    for server in ("postgresql", "mariadb", "sqlite")
    for case in cases(server)
    if "changes" in case.expected
]


@pytest.mark.parametrize(("server", "case"), CASES)
def test_a_step_gives_its_changes_and_no_others(server: str, case: Case) -> None:
    before, after = (
        {dataset_name(each): clean(each) for each in case.expected[side]}
        for side in ("datasets", "datasets_after")
    )

    found: list[list[Any]] = [
        [change.op, change.dataset, change.field]
        for dataset in compare(before, after, catalogue=bundled_catalogue(server), covered=lambda name: True)
        for change in dataset.changes
    ]

    assert sorted(found, key=str) == sorted(case.expected["changes"], key=str)
