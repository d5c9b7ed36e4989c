"""What lies around a dataset or a column, as people read it: the hop, the jobs on the way, owners and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lineage import asking, graph
from registry.models import Dataset, FieldTag


@dataclass
class Row:
    """One dataset or column that was found, as the list shows it."""

    id: str
    hop: int
    way: str
    namespace: str
    name: str
    column: str | None
    dataset_id: int | None
    system: str = ""
    owner: str = ""
    tags: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    last_seen: datetime | None = None
    path: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def label(self) -> str:
        return f"{self.name}.{self.column}" if self.column else self.name


@dataclass(frozen=True)
class Surroundings:
    """The start first, then what was found, nearest first; the edges by the rows' ids; whether there was more."""

    rows: list[Row]
    edges: list[dict[str, Any]]
    truncated: bool

    @property
    def start(self) -> Row:
        return self.rows[0]

    @property
    def found(self) -> list[Row]:
        return self.rows[1:]


def surroundings(
    start: asking.Start,
    *,
    level: str = graph.DATASET,
    path: str | None = None,
    direction: graph.Direction = "both",
    depth: int = graph.MAX_DEPTH,
    as_of: datetime | None = None,
    most: int,
) -> Surroundings:
    """The start and what was found around it, each with how it is reached. A fixed number of statements a level."""
    ways: tuple[graph.Direction, ...] = ("down", "up") if direction == "both" else (direction,)
    rows: dict[str, Row] = {}
    edges: list[dict[str, Any]] = []
    truncated = False
    for way in ways:
        answer = asking.around(
            start,
            level=level,
            path=path if level == graph.COLUMN else None,
            direction=way,
            depth=depth,
            as_of=as_of,
            most=most,
        )
        truncated |= answer["truncated"]
        edges += answer["edges"]
        for node in answer["nodes"]:
            rows.setdefault(
                node["id"],
                Row(
                    node["id"],
                    node["depth"],
                    way,
                    node["namespace"],
                    node["name"],
                    node["field"],
                    node["dataset_id"],
                ),
            )
    _tell_jobs(rows, edges)
    listed = sorted(rows.values(), key=lambda row: (row.hop, row.label, row.id))
    _tell_people(listed)
    return Surroundings(listed, edges, truncated)


def _tell_jobs(rows: Mapping[str, Row], edges: Sequence[Mapping[str, Any]]) -> None:
    """Who brings each row here, when that was last seen, and one shortest way to it."""
    comes_from: dict[str, str] = {}
    for edge in edges:
        for near, far, way in (
            (edge["source"], edge["target"], "down"),
            (edge["target"], edge["source"], "up"),
        ):
            row, before = rows.get(far), rows.get(near)
            if row is None or before is None or row.way != way or before.hop != row.hop - 1:
                continue
            if edge["job"] not in row.jobs:
                row.jobs.append(edge["job"])
            row.last_seen = max(row.last_seen or edge["last_seen"], edge["last_seen"])
            comes_from.setdefault(far, near)
    for row in rows.values():
        at: str | None = row.id
        seen: set[str] = set()
        while at is not None and at not in seen:
            seen.add(at)
            row.path.insert(0, rows[at].label)
            at = comes_from.get(at)


def _tell_people(rows: Sequence[Row]) -> None:
    """Owners, systems and confirmed tags, each by one statement."""
    ids = {row.dataset_id for row in rows if row.dataset_id}
    known = {
        pk: (system, owner)
        for pk, system, owner in Dataset.objects.filter(pk__in=ids).values_list("pk", "system__code", "owner")
    }
    confirmed = FieldTag.objects.filter(
        field__dataset__in=ids, until__isnull=True, state=FieldTag.State.CONFIRMED
    ).values_list("field__dataset_id", "field__path", "tag__code")
    tags: dict[tuple[int, str | None], set[str]] = {}
    for dataset_id, path, code in confirmed:
        tags.setdefault((dataset_id, path), set()).add(code)
        tags.setdefault((dataset_id, None), set()).add(code)
    for row in rows:
        if row.dataset_id:
            row.system, row.owner = known.get(row.dataset_id, ("", ""))
            row.tags = sorted(tags.get((row.dataset_id, row.column), ()))
