"""How marks travel downstream over edges, level by level, each by a shortest way. Plain values; no I/O of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

Pairs = Iterable[tuple[int, int]]


@dataclass
class Spread:
    """Which marks (bits) reach which columns, and from where each came first."""

    marks: dict[int, int]
    came: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """By column: (bits, the column before it), for what is no seed."""

    def way(self, column: int, bit: int) -> list[int]:
        """The columns from a seed to this one, for one mark."""
        found = [column]
        while True:
            before = next((source for bits, source in self.came.get(found[0], ()) if bits & bit), None)
            if before is None:
                return found
            found.insert(0, before)


def spread(
    seeds: Mapping[int, int], following: Callable[[list[int]], Pairs], *, stops: Mapping[int, int]
) -> Spread:
    """Let the seeds' marks travel. `following` gives the edges from some columns; `stops` are marks that end there.

    A column takes each mark once, on the level that it comes on first, so cycles end and hubs cost no more than
    their edges.
    """
    marks = dict(seeds)
    came: dict[int, list[tuple[int, int]]] = {}
    frontier = dict(seeds)
    while frontier:
        reached: dict[int, int] = {}
        held = marks.get
        for source, target in following(list(frontier)):
            fresh = frontier[source] & ~held(target, 0)
            if fresh and target in stops:
                fresh &= ~stops[target]
            if fresh:
                marks[target] = held(target, 0) | fresh
                reached[target] = reached.get(target, 0) | fresh
                came.setdefault(target, []).append((fresh, source))
        frontier = reached
    return Spread(marks, came)
