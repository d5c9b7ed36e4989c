"""Who reads a dataset, as far as lineage knows. The desk asks here, whatever screen or answer it is for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lineage.models import Node
from lineage.readers import readers
from registry.models import Dataset


@dataclass(frozen=True)
class Reader:
    """A dataset that is made from a field of another, and whom to ask about it.

    `field` is the field that is read, None where only the dataset is known; `dataset_id` is None for a reader that
    is not in the registry, which `name` tells.
    """

    dataset_id: int | None
    field: str | None
    owner: str
    name: str = ""

    def to_dict(self) -> dict[str, int | str | None]:
        return {"dataset_id": self.dataset_id, "field": self.field, "owner": self.owner, "name": self.name}


def readers_of(dataset: Dataset, *, fields: Iterable[str]) -> tuple[Reader, ...]:
    """The known readers of these fields (paths) of a dataset, and of the fields within them; four statements at most.

    Who is known to read the dataset, but not which of its fields, reads them all.
    """
    asked = sorted(set(fields))
    if not asked:
        return ()
    found = [each for each in readers([dataset.pk]) if each.field is None or _touches(each.field, asked)]
    if not found:
        return ()
    names = ("pk", "namespace", "name", "dataset_id", "dataset__name", "dataset__owner")
    rows = Node.objects.filter(pk__in={each.node_id for each in found}).values_list(*names)
    nodes = {pk: rest for pk, *rest in rows}
    listed = []
    for each in found:
        namespace, name, dataset_id, dataset_name, owner = nodes[each.node_id]
        shown = dataset_name or f"{namespace}/{name}"
        listed.append(Reader(dataset_id, each.field, owner or "", shown))
    return tuple(sorted(listed, key=lambda reader: (reader.name, reader.field or "")))


def _touches(field: str, asked: Iterable[str]) -> bool:
    """Whether a field that is read is one of those, lies in one, or holds one."""
    return any(field == one or field.startswith(f"{one}.") or one.startswith(f"{field}.") for one in asked)
