"""Columns and the edges between them. A column that was renamed is found by its lasting field."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lineage.merging.rows import JobRow, NodeRow
from lineage.merging.statements import Script, among, members
from lineage.merging.upserts import AS_TOLD, TOLD, add_upsert, chunks, column_edge_sets
from lineage.models import ColumnEdge, NodeColumn
from lineage.models.graph import DECLARED
from lineage.openlineage import DatasetName, JobName, OpenLineageEvent
from registry.models import Field

Place = tuple[int, str]
"""A node's id and the path of a column."""


def column_key(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


def merge_columns(
    events: Sequence[OpenLineageEvent],
    nodes: Mapping[DatasetName, NodeRow],
    jobs: Mapping[JobName, JobRow],
    script: Script,
) -> None:
    """What events say about columns goes to the script; nothing is done where none says anything."""
    flows = [(event, flow) for event in events for flow in event.columns]
    if not flows:
        return
    places: dict[Place, None] = {}
    for _, flow in flows:
        places[nodes[flow.source].pk, flow.source_field] = None
        places[nodes[flow.target].pk, flow.target_field] = None
    columns = columns_of(places, {node.pk: node.dataset_id for node in nodes.values() if node.dataset_id})
    found: dict[tuple[int, int, int], tuple[datetime, datetime, str, bool]] = {}
    for event, flow in flows:
        source = columns[nodes[flow.source].pk, flow.source_field]
        target = columns[nodes[flow.target].pk, flow.target_field]
        if source == target:
            continue
        key = (source, target, jobs[event.job or JobName(*DECLARED)].pk)
        at = event.event_time
        first, last, words, masking = found.get(key, (at, at, flow.transformation, flow.masking))
        both = min(filter(None, (words, flow.transformation)), default="")
        found[key] = (min(first, at), max(last, at), both, masking and flow.masking)
    names = (
        "source_id",
        "target_id",
        "job_id",
        "first_seen",
        "last_seen",
        "transformation",
        "masking",
        *TOLD,
    )
    rows = [(*key, *values, *AS_TOLD) for key, values in found.items()]
    add_upsert(script, ColumnEdge, names, rows, unique=3, sets=column_edge_sets)


def columns_of(places: Iterable[Place], datasets: Mapping[int, int]) -> dict[Place, int]:
    """The id of each column, made where there is none; `datasets` gives the dataset of nodes that have one."""
    wanted = list(dict.fromkeys(places))
    keys = {(node_id, column_key(path)): (node_id, path) for node_id, path in wanted}
    found: dict[Place, int] = {}
    script = Script()
    script.add(
        "SELECT id, node_id, key FROM lineage_nodecolumn"  # noqa: S608 (conditions of ours)
        f" WHERE {among('key', 'text')} AND {among('node_id', 'bigint')}",
        members(sorted({key for _, key in keys})),
        members(sorted({node_id for node_id, _ in wanted})),
    )
    for pk, node_id, key in script.run()[0]:
        if (node_id, key) in keys:
            found[keys[node_id, key]] = pk
    missing = [place for place in wanted if place not in found]
    if not missing:
        return found
    fields = fields_of([place for place in missing if place[0] in datasets], datasets)
    by_field = _by_field(set(fields.values()))
    fresh: dict[tuple[int, int | str], NodeColumn] = {}
    again: list[tuple[Place, tuple[int, int | str]]] = []
    for place in missing:
        node_id, path = place
        field_id = fields.get(place)
        there = by_field.get((node_id, field_id)) if field_id else None
        if there is not None:
            found[place] = there
            continue
        identity: tuple[int, int | str] = (node_id, field_id or path)
        if identity not in fresh:
            fresh[identity] = NodeColumn(node_id=node_id, key=column_key(path), path=path, field_id=field_id)
        again.append((place, identity))
    NodeColumn.objects.bulk_create([fresh[key] for key in sorted(fresh, key=lambda k: (k[0], str(k[1])))])
    found.update((place, fresh[identity].pk) for place, identity in again)
    return found


def _by_field(field_ids: set[int]) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for some in chunks(sorted(field_ids)):
        rows = NodeColumn.objects.filter(field_id__in=some).order_by("-pk")
        for pk, node_id, field_id in rows.values_list("pk", "node_id", "field_id"):
            if field_id is not None:
                found[node_id, field_id] = pk
    return found


def fields_of(places: Sequence[Place], datasets: Mapping[int, int]) -> dict[Place, int]:
    """The registry's field of each column, by its path; in another case only where that is unique."""
    if not places:
        return {}
    by_dataset: dict[int, dict[str, int]] = defaultdict(dict)
    folded: dict[tuple[int, str], list[int]] = defaultdict(list)
    ids = {datasets[node_id] for node_id, _ in places}
    for some in chunks(sorted(ids)):
        rows = Field.objects.filter(dataset_id__in=some, retired_at__isnull=True)
        for pk, dataset_id, path in rows.values_list("pk", "dataset_id", "path"):
            by_dataset[dataset_id][path] = pk
            folded[dataset_id, path.lower()].append(pk)
    found: dict[Place, int] = {}
    for node_id, path in places:
        dataset_id = datasets[node_id]
        alike = folded.get((dataset_id, path.lower()), [])
        field_id = by_dataset[dataset_id].get(path) or (alike[0] if len(alike) == 1 else None)
        if field_id is not None:
            found[node_id, path] = field_id
    return found
