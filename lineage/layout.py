"""Where the boxes of a lineage drawing stand: layers by distance, ordered so that few lines cross. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

BOX_WIDTH, BOX_HEIGHT = 190, 40
GAP_ACROSS, GAP_DOWN = 90, 14
MARGIN = 16
_SWEEPS = 4


@dataclass(frozen=True)
class Box:
    """A box's upper left corner."""

    x: int
    y: int


@dataclass(frozen=True)
class Line:
    """A curve from the right side of one box to the left side of another, as an SVG path."""

    source: str
    target: str
    path: str


@dataclass(frozen=True)
class Drawing:
    """Boxes by id, the lines between them, and the size of the whole in pixels."""

    boxes: Mapping[str, Box]
    lines: Sequence[Line]
    width: int
    height: int


def lay_out(layers: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> Drawing:
    """Boxes from left to right by their layer (upstream is negative), each near what it is tied to."""
    columns: dict[int, list[str]] = {}
    for each in sorted(layers, key=lambda name: (layers[name], name)):
        columns.setdefault(layers[each], []).append(each)
    ordered = [columns[number] for number in sorted(columns)]
    ties: dict[str, list[str]] = {each: [] for each in layers}
    for source, target in edges:
        if source in ties and target in ties and source != target:
            ties[source].append(target)
            ties[target].append(source)
    for sweep in range(_SWEEPS):
        _sort_by_neighbours(ordered if sweep % 2 == 0 else ordered[::-1], ties)
    tallest = max((len(column) for column in ordered), default=0)
    height = MARGIN * 2 + max(tallest * (BOX_HEIGHT + GAP_DOWN) - GAP_DOWN, BOX_HEIGHT)
    boxes = {
        each: Box(MARGIN + place * (BOX_WIDTH + GAP_ACROSS), top + row * (BOX_HEIGHT + GAP_DOWN))
        for place, column in enumerate(ordered)
        for top in [(height - len(column) * (BOX_HEIGHT + GAP_DOWN) + GAP_DOWN) // 2]
        for row, each in enumerate(column)
    }
    lines = [
        Line(source, target, _curve(boxes[source], boxes[target]))
        for source, target in dict.fromkeys(edges)
        if source in boxes and target in boxes and source != target
    ]
    width = MARGIN * 2 + max(len(ordered) * (BOX_WIDTH + GAP_ACROSS) - GAP_ACROSS, BOX_WIDTH)
    return Drawing(boxes, lines, width, height)


def _sort_by_neighbours(columns: Sequence[list[str]], ties: Mapping[str, Sequence[str]]) -> None:
    """One sweep: each column in the order of the middle of what its boxes are tied to in the one before."""
    for before, column in pairwise(columns):
        place = {each: number for number, each in enumerate(before)}
        middle: dict[str, float] = {}
        for number, each in enumerate(column):
            near = [place[other] for other in ties[each] if other in place]
            middle[each] = sum(near) / len(near) if near else number
        column.sort(key=lambda each: (middle[each], each))


def _curve(source: Box, target: Box) -> str:
    x1, y1 = source.x + BOX_WIDTH, source.y + BOX_HEIGHT // 2
    x2, y2 = target.x, target.y + BOX_HEIGHT // 2
    bend = max(abs(x2 - x1) // 2, 30)
    return f"M{x1},{y1} C{x1 + bend},{y1} {x2 - bend},{y2} {x2},{y2}"
