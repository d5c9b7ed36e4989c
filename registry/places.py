"""Where a dataset is: free to write until a version is published, after that only a reviewed change moves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aide.core.errors import Conflict
from registry.models import Dataset

PLACE = ("name", "location", "object_kind")


def refuse_moved(dataset: Dataset, values: Mapping[str, Any], *, present: Mapping[str, Any]) -> None:
    """Raise IMMUTABLE when `values` would move a dataset with a published version away from `present`."""
    if dataset.current_schema_id is None:
        return
    if any(name in values and values[name] != present[name] for name in PLACE):
        raise Conflict("IMMUTABLE", "Its place comes from its published version; propose a change.")
