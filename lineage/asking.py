"""Questions about lineage in the registry's words: from a dataset, a name or a field to nodes that can be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineage import graph
from lineage.edges import rows_with
from lineage.merging.columns import column_key
from lineage.models import Node, NodeColumn
from lineage.resolve import find_node
from registry.models import Dataset, Field

_NODES = "SELECT id, namespace, name, dataset_id FROM lineage_node WHERE {id}"
_COLUMNS = "SELECT id, path, field_id, node_id FROM lineage_nodecolumn WHERE {id}"
_PATHS = "SELECT id, path FROM registry_field WHERE {id}"
_SYSTEMS = """
SELECT d.id, s.code FROM registry_dataset d JOIN registry_system s ON s.id = d.system_id WHERE {d.id}
"""


@dataclass(frozen=True)
class Start:
    """Where a question begins: a node, or a dataset that no event has named yet."""

    node: Node | None
    dataset: Dataset | None


def start_at_dataset(dataset: Dataset) -> Start:
    return Start(Node.objects.filter(dataset=dataset).first(), dataset)


def start_at_name(namespace: str, name: str) -> Start | None:
    """What this name means, or None where neither events nor the registry know it."""
    node, dataset_id = find_node(namespace, name)
    if node is None and dataset_id is None:
        return None
    dataset = Dataset.objects.alive().filter(pk=dataset_id).first() if dataset_id else None
    return Start(node, dataset)


def around(
    start: Start,
    *,
    level: str,
    path: str | None,
    direction: graph.Direction,
    depth: int,
    as_of: datetime | None,
    most: int,
    within: Iterable[str] | None = None,
) -> dict[str, Any]:
    """The answer of `/lineage/graph`. With `within`, only datasets of these systems, and the start, are shown."""
    begin = _begin(start, level=level, path=path)
    found = graph.picture(begin, level=level, direction=direction, depth=depth, as_of=as_of, most=most)
    letter = "c" if level == graph.COLUMN else "n"
    described = (_columns if level == graph.COLUMN else _nodes)(found.depths)
    if within is not None:
        near = _datasets_of(within, (each["dataset_id"] for each in described.values()))
        described = {pk: each for pk, each in described.items() if pk in begin or each["dataset_id"] in near}
    nodes = list(described.values()) if begin else [_bare(start, path)]
    return {
        "nodes": sorted(
            nodes, key=lambda node: (node["depth"], node["name"], node["field"] or "", node["id"])
        ),
        "edges": [
            _edge(row, letter) for row in found.edges if row.source in described and row.target in described
        ],
        "truncated": found.truncated,
    }


def _begin(start: Start, *, level: str, path: str | None) -> list[int]:
    if start.node is None:
        return []
    if level == graph.DATASET:
        return [start.node.pk]
    columns = NodeColumn.objects.filter(node=start.node)
    if path is None:
        return list(columns.order_by("pk").values_list("pk", flat=True))
    exact = columns.filter(field__path=path, field__retired_at__isnull=True) | columns.filter(
        key=column_key(path)
    )
    return list(exact.order_by("pk").values_list("pk", flat=True))


def _bare(start: Start, path: str | None) -> dict[str, Any]:
    """The start where no event has named it, or not this field of it."""
    node, dataset = start.node, start.dataset
    if node is not None:
        namespace, name = node.namespace, node.name
    else:
        assert dataset is not None
        namespace, name = namespace_of(dataset), dataset.name
    return {
        "id": f"n{node.pk}" if node is not None else f"d{dataset.pk if dataset else 0}",
        "namespace": namespace,
        "name": name,
        "dataset_id": dataset.pk if dataset is not None else (node.dataset_id if node else None),
        "field": path,
        "depth": 0,
    }


def namespace_of(dataset: Dataset) -> str:
    """The first OpenLineage namespace of a dataset's system, or its code where it has none."""
    first = dataset.system.namespace_rows.order_by("namespace").values_list("namespace", flat=True).first()
    return first or dataset.system.code


def _nodes(depths: Mapping[int, int]) -> dict[int, dict[str, Any]]:
    return {
        pk: {
            "id": f"n{pk}", "namespace": namespace, "name": name, "dataset_id": dataset_id, "field": None,
            "depth": depths[pk],
        }
        for pk, namespace, name, dataset_id in rows_with(_NODES, depths)
    }  # fmt: skip


def _columns(depths: Mapping[int, int]) -> dict[int, dict[str, Any]]:
    """Columns, by the registry's present path where they have a field. Each table is asked by ids alone."""
    rows = rows_with(_COLUMNS, depths)
    paths = dict(rows_with(_PATHS, {field_id for _, _, field_id, _ in rows if field_id}))
    nodes = {pk: rest for pk, *rest in rows_with(_NODES, {node_id for *_, node_id in rows})}
    found = {}
    for pk, path, field_id, node_id in rows:
        namespace, name, dataset_id = nodes[node_id]
        found[pk] = {
            "id": f"c{pk}", "namespace": namespace, "name": name, "dataset_id": dataset_id,
            "field": paths.get(field_id) or path, "depth": depths[pk],
        }  # fmt: skip
    return found


def _datasets_of(systems: Iterable[str], ids: Iterable[int | None]) -> set[int | None]:
    """Those of the datasets that belong to one of the systems."""
    codes = frozenset(systems)
    return {pk for pk, code in rows_with(_SYSTEMS, {pk for pk in ids if pk}) if code in codes}


def _edge(row: graph.EdgeRow, letter: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "source": f"{letter}{row.source}",
        "target": f"{letter}{row.target}",
        "job": row.job,
        "job_namespace": row.job_namespace,
        "first_seen": row.first_seen,
        "last_seen": row.last_seen,
        "ended_at": row.ended_at,
        "origin": row.origin,
    }
    if letter == "c":
        found |= {"transformation": row.transformation, "masking": row.masking}
    return found


def field_of(dataset: Dataset, path: str) -> Field | None:
    """The present field at a path."""
    return Field.objects.filter(dataset=dataset, path=path, retired_at__isnull=True).first()
