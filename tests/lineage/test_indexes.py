"""Every index is written with its row, so none may repeat the beginning of another."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import connection


def listed(model: Any) -> list[tuple[str, ...]]:
    """The columns of each index over all rows, in its order."""
    meta = model._meta
    found = [(field.attname,) for field in meta.concrete_fields if field.db_index or field.unique]
    for each in [*meta.indexes, *meta.constraints]:
        if getattr(each, "fields", ()) and getattr(each, "condition", None) is None:
            found.append(tuple(meta.get_field(name.lstrip("-")).attname for name in each.fields))
    return found


@pytest.mark.parametrize("name", ["Job", "JobDataset", "NodeColumn", "NodeName", "Run", "RunDataset"])
def test_no_index_repeats_the_beginning_of_another(name: str) -> None:
    found = listed(apps.get_model("lineage", name))
    again = [
        one
        for place, one in enumerate(found)
        for other_place, other in enumerate(found)
        if place != other_place and other[: len(one)] == one
    ]
    assert again == []


def test_keys_that_are_hashes_have_no_index_for_patterns(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("PostgreSQL only")
    with connection.cursor() as cursor:
        cursor.execute(
            r"SELECT indexname FROM pg_indexes WHERE indexname ~ '^lineage_.*_(digest|key)_.*like$'"
        )
        assert cursor.fetchall() == []
