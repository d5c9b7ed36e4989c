"""The graph read: what lies upstream and downstream of a dataset or a column, by depth, as of a moment. Reads only.

One SELECT a level, whatever the number of paths: cycles and hubs do no harm. Without a depth one recursive
statement that keeps each node once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.db import connection

from lineage.models import ColumnEdge, Edge

Direction = Literal["up", "down", "both"]
DATASET, COLUMN = "dataset", "column"
MODELS: Mapping[str, type[Edge] | type[ColumnEdge]] = {DATASET: Edge, COLUMN: ColumnEdge}
MAX_DEPTH = 100
MOST_EDGES = 50_000
_CHUNK = 400


@dataclass(frozen=True)
class Walk:
    """Ids by their least distance from the start, and whether more were found than were wanted."""

    depths: Mapping[int, int]
    truncated: bool = False


@dataclass(frozen=True)
class EdgeRow:
    """An edge as it is answered; masking and transformation are of columns."""

    source: int
    target: int
    job: str
    job_namespace: str
    first_seen: datetime
    last_seen: datetime
    ended_at: datetime | None
    origin: str
    transformation: str = ""
    masking: bool = False


@dataclass(frozen=True)
class Picture:
    """What lies around a start: ids with their depths, and the edges that were walked."""

    depths: Mapping[int, int]
    edges: Sequence[EdgeRow] = field(default_factory=tuple)
    truncated: bool = False


def picture(
    starts: Iterable[int],
    *,
    level: str = DATASET,
    direction: Direction = "both",
    depth: int = 5,
    as_of: datetime | None = None,
    most: int = 2_000,
) -> Picture:
    """What can be reached from the starts in so many steps, at most `most` of it, and the edges on the way."""
    begin = list(dict.fromkeys(starts))
    depths: dict[int, int] = {}
    edges: dict[tuple[Any, ...], EdgeRow] = {}
    truncated = False
    for way in ("down", "up") if direction == "both" else (direction,):
        found = walk(begin, level=level, direction=way, depth=depth, as_of=as_of, most=most)
        truncated |= found.truncated
        for pk, distance in found.depths.items():
            depths[pk] = min(distance, depths.get(pk, distance))
        listed, more = _edges(found.depths, level=level, direction=way, depth=depth, as_of=as_of)
        truncated |= more
        edges |= {(row.source, row.target, row.job_namespace, row.job): row for row in listed}
    if len(depths) > max(most, len(begin)):  # each way may have had that many
        nearest = sorted(depths, key=lambda pk: (depths[pk], pk))[: max(most, len(begin))]
        depths = {pk: depths[pk] for pk in nearest}
        edges = {key: row for key, row in edges.items() if row.source in depths and row.target in depths}
        truncated = True
    return Picture(depths, tuple(edges[key] for key in sorted(edges)), truncated)


def walk(
    starts: Iterable[int],
    *,
    level: str = DATASET,
    direction: Literal["up", "down"] = "down",
    depth: int = MAX_DEPTH,
    as_of: datetime | None = None,
    most: int | None = None,
) -> Walk:
    """Ids by distance, breadth first; within a level those with the least ids are kept when there are too many."""
    near, far = _ends(direction)
    table = MODELS[level]._meta.db_table
    condition, params = _present(as_of)
    frontier = sorted(set(starts))
    depths = dict.fromkeys(frontier, 0)
    for distance in range(1, min(depth, MAX_DEPTH) + 1):
        limit = None if most is None else most + len(depths) + 1
        order = "" if limit is None else f" ORDER BY {far} LIMIT {limit}"
        statement = f"SELECT DISTINCT {far} FROM {table} WHERE {near} {{among}} AND {condition}{order}"  # noqa: S608
        reached = [pk for pk in _column(statement, frontier, params) if pk not in depths]
        if most is not None and len(depths) + len(reached) > most:
            for pk in sorted(reached)[: max(most - len(depths), 0)]:
                depths[pk] = distance
            return Walk(depths, truncated=True)
        depths.update(dict.fromkeys(reached, distance))
        frontier = reached
        if not frontier:
            break
    return Walk(depths)


def everything(
    starts: Iterable[int],
    *,
    level: str = DATASET,
    direction: Literal["up", "down"] = "down",
    as_of: datetime | None = None,
) -> set[int]:
    """All ids that can be reached, the starts among them, without a limit of depth or number. One statement."""
    begin = sorted(set(starts))
    if not begin:
        return set()
    near, far = _ends(direction)
    table = MODELS[level]._meta.db_table
    condition, params = _present(as_of)
    roots = " UNION ALL ".join(["SELECT %s"] * len(begin)) if connection.vendor != "postgresql" else ""
    roots = roots or "SELECT unnest(%s::bigint[])"
    arguments: list[Any] = [begin] if connection.vendor == "postgresql" else list(begin)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE reached(id) AS ({roots} UNION SELECT {far} FROM {table} "  # noqa: S608
            f"JOIN reached ON {near} = reached.id WHERE {condition}) SELECT id FROM reached",
            [*arguments, *params],
        )
        return {pk for (pk,) in cursor.fetchall()}


def _edges(
    depths: Mapping[int, int], *, level: str, direction: str, depth: int, as_of: datetime | None
) -> tuple[list[EdgeRow], bool]:
    """The edges that were walked: from what lies nearer than the last level to anything that was kept."""
    near, far = _ends(direction)
    model = MODELS[level]
    walked = [pk for pk, distance in depths.items() if distance < depth]
    names = [
        "source_id", "target_id", "job__name", "job__namespace", "first_seen", "last_seen", "ended_at", "origin",
    ]  # fmt: skip
    if level == COLUMN:
        names += ["transformation", "masking"]
    found: list[EdgeRow] = []
    rows = model._base_manager.order_by()
    if as_of is None:
        rows = rows.filter(ended_at__isnull=True)
    else:
        rows = rows.filter(first_seen__lte=as_of).exclude(ended_at__lte=as_of)
    for start in range(0, len(walked), _CHUNK):
        some = rows.filter(**{f"{near}__in": walked[start : start + _CHUNK]})
        for values in some.values_list(*names)[: MOST_EDGES + 1]:
            row = EdgeRow(*values)
            if (row.target if far == "target_id" else row.source) in depths:
                found.append(row)
        if len(found) > MOST_EDGES:
            return found[:MOST_EDGES], True
    return found, False


def _ends(direction: str) -> tuple[str, str]:
    return ("source_id", "target_id") if direction == "down" else ("target_id", "source_id")


def _present(as_of: datetime | None) -> tuple[str, list[Any]]:
    """The condition for edges that are there now, or were at a moment."""
    if as_of is None:
        return "ended_at IS NULL", []
    moment = connection.ops.adapt_datetimefield_value(as_of)
    return "first_seen <= %s AND (ended_at IS NULL OR ended_at > %s)", [moment, moment]


def _column(statement: str, frontier: Sequence[int], params: Sequence[Any]) -> list[int]:
    """The first column of a statement over a frontier of any size."""
    if not frontier:
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(statement.format(among="= ANY(%s)"), [list(frontier), *params])
            return [pk for (pk,) in cursor.fetchall()]
        found: dict[int, None] = {}
        for start in range(0, len(frontier), _CHUNK):
            some = frontier[start : start + _CHUNK]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(statement.format(among=f"IN ({marks})"), [*some, *params])
            found.update(dict.fromkeys(pk for (pk,) in cursor.fetchall()))
        return list(found)
