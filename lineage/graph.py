"""The graph read: what lies upstream and downstream of a dataset or a column, by depth, as of a moment. Reads only.

One SELECT a level, whatever the number of paths, so that cycles and hubs do no harm. A walk ends as soon as it has as
many nodes as were wanted, or has looked at as many edges as it may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lineage.edges import EdgeRow, Steps, Way
from lineage.models import ColumnEdge, Edge

Direction = Literal["up", "down", "both"]
DATASET, COLUMN = "dataset", "column"
MODELS: Mapping[str, type[Edge] | type[ColumnEdge]] = {DATASET: Edge, COLUMN: ColumnEdge}
MAX_DEPTH = 100
USUAL_MOST = 1_000
"""So many nodes are answered unless more are asked for."""
EDGES_EACH = 4
"""So many edges are answered for each node that may be."""
LOOKED_AT_EACH = 25
"""So many edges may be looked at for each node that may be answered."""


@dataclass(frozen=True)
class Walk:
    """Ids by their least distance from the start, in the order in which they were found; the id by which each was
    found; and whether there is more than was wanted."""

    depths: Mapping[int, int]
    found_by: Mapping[int, int] = field(default_factory=dict)
    truncated: bool = False


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
    most: int = USUAL_MOST,
) -> Picture:
    """What can be reached from the starts in so many steps, at most `most` of it, and the edges on the way.

    When it is truncated, some edges between what is kept may be missing, but each node keeps one that leads to it
    from a nearer one.
    """
    begin = list(dict.fromkeys(starts))
    ways: tuple[Way, ...] = ("down", "up") if direction == "both" else (direction,)
    walks = {
        way: walk(begin, level=level, direction=way, depth=depth, as_of=as_of, most=most) for way in ways
    }
    truncated = any(found.truncated for found in walks.values())
    depths: dict[int, int] = {}
    for found in walks.values():
        for pk, distance in found.depths.items():
            depths[pk] = min(distance, depths.get(pk, distance))
    room = max(most, len(begin))
    if len(depths) > room:  # each way may have had that many
        depths = {pk: depths[pk] for pk in sorted(depths, key=lambda pk: (depths[pk], pk))[:room]}
        truncated = True
    edges: dict[int, EdgeRow] = {}
    for way, found in walks.items():
        kept = {pk: distance for pk, distance in found.depths.items() if pk in depths}
        listed, cut = _between(kept, found.found_by, Steps(MODELS[level], way, as_of), depth=depth, room=room)
        truncated |= cut
        edges |= {row.pk: row for row in listed}
    shown = sorted(edges.values(), key=lambda row: (row.source, row.target, row.job_namespace, row.job))
    return Picture(depths, shown, truncated)


def walk(
    starts: Iterable[int],
    *,
    level: str = DATASET,
    direction: Way = "down",
    depth: int = MAX_DEPTH,
    as_of: datetime | None = None,
    most: int | None = None,
) -> Walk:
    """Ids by distance, breadth first: a level is gone through in the order of its ids, what each leads to likewise.

    With `most` the walk ends when there is one more, or when so many edges were looked at that the answer would be
    late; what is kept then is the beginning of the whole walk.
    """
    steps = Steps(MODELS[level], direction, as_of)
    frontier = sorted(set(starts))
    depths = dict.fromkeys(frontier, 0)
    found_by: dict[int, int] = {}
    left = LOOKED_AT_EACH * (most or 0)
    for distance in range(1, min(depth, MAX_DEPTH) + 1):
        if not frontier:
            break
        if most is None:
            frontier = [pk for pk in steps.all_from(frontier) if pk not in depths]
            depths.update(dict.fromkeys(frontier, distance))
            continue
        pairs, looked = steps.first_from(frontier, looked_at=left, most=max(most, len(depths)) + 1)
        fresh = [(near, far) for near, far in pairs if far not in depths]
        room = max(most - len(depths), 0)
        for near, far in fresh[:room]:
            depths[far], found_by[far] = distance, near
        left -= looked
        if left < 0 or len(fresh) > room:
            return Walk(depths, found_by, truncated=True)
        frontier = sorted(far for _, far in fresh)
    return Walk(depths, found_by)


def everything(
    starts: Iterable[int], *, level: str = DATASET, direction: Way = "down", as_of: datetime | None = None
) -> set[int]:
    """All ids that can be reached, the starts among them, without a limit of depth or number. One statement."""
    begin = sorted(set(starts))
    return Steps(MODELS[level], direction, as_of).closure(begin) if begin else set()


def _between(
    depths: Mapping[int, int], found_by: Mapping[int, int], steps: Steps, *, depth: int, room: int
) -> tuple[list[EdgeRow], bool]:
    """The edges from what lies nearer than the last level to anything that was kept; whether there are more."""
    near = sorted(pk for pk, distance in depths.items() if distance < depth)
    if not near or len(depths) < 2:
        return [], False
    most = EDGES_EACH * room
    found = steps.between(near, depths, looked_at=LOOKED_AT_EACH * room, most=most + 1)
    there = {(row.source, row.target) if steps.is_down else (row.target, row.source) for row in found}
    needed = [(found_by[pk], pk) for pk in depths if pk in found_by and (found_by[pk], pk) not in there]
    cut = len(found) > most
    if needed or cut:
        by_these = steps.of_pairs([(found_by[pk], pk) for pk in depths if pk in found_by])
        found = list({row.pk: row for row in [*by_these, *found]}.values())
    return found[:most], cut
