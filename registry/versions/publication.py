"""What is to be published, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.models import Dataset
from registry.versions.levels import Approval

Document = dict[str, Any]


@dataclass(frozen=True)
class Publication:
    """What is to be published: a clean document for a dataset, which is made where it is None.

    `renames`: new field path → the old name of that field, whose identity and human values it keeps.
    `name`, `location`: where the dataset lives now; needed for a new one and for one that was renamed or moved.
    `approval`: the review whose word counts for more than the dataset's level of compatibility.
    """

    document: Document
    dataset: Dataset | None = None
    kind: str = Dataset.Kind.RDBMS
    name: str = ""
    location: Mapping[str, Any] | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    approval: Approval | None = None
