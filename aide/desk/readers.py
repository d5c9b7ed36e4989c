"""Who reads a dataset, as far as lineage knows. The desk asks here, whatever screen or answer it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from registry.models import Dataset


@dataclass(frozen=True)
class Reader:
    """A dataset that is made from a field of another, and whom to ask about it."""

    dataset_id: int
    field: str | None
    owner: str

    def to_dict(self) -> dict[str, int | str | None]:
        return {"dataset_id": self.dataset_id, "field": self.field, "owner": self.owner}


def readers_of(dataset: Dataset, *, fields: Iterable[str]) -> tuple[Reader, ...]:
    """The known readers of these fields (paths) of a dataset. No lineage is kept yet, so none is known."""
    return ()
