"""Small charts drawn on the server as SVG: one hue, direct labels, no script and no inline style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 640


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    title: str
    css: str = "bar"


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    text: str
    anchor: str = "start"
    css: str = ""


@dataclass(frozen=True)
class Chart:
    """What the template draws: bars and texts in a `width` by `height` box, with a baseline."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    texts: tuple[Text, ...]
    baseline: float | None
    summary: str


def pairs_by_day(days: Sequence[tuple[str, int, int]], *, height: int = 150) -> Chart:
    """Two thin bars a day: found behind, decided in front. `days` are (label, found, decided)."""
    top = max([1, *(max(found, decided) for _, found, decided in days)])
    base = height - 22.0
    room = base - 16
    slot = WIDTH / max(1, len(days))
    bars: list[Bar] = []
    for place, (label, found, decided) in enumerate(days):
        for shift, count, css, word in (
            (0.14, found, "bar back", "found"),
            (0.52, decided, "bar", "decided"),
        ):
            if count:
                tall = max(2.0, room * count / top)
                bars.append(
                    Bar(
                        round(slot * (place + shift), 1),
                        round(base - tall, 1),
                        round(slot * 0.34, 1),
                        round(tall, 1),
                        f"{label}: {count:,} {word}",
                        css,
                    )
                )
    texts = [Text(0, 10, f"{top:,} a day at most")]
    if days:
        texts += [
            Text(0, height - 6, days[0][0]),
            Text(WIDTH / 2, height - 6, days[len(days) // 2][0], "middle"),
            Text(WIDTH, height - 6, days[-1][0], "end"),
        ]
    found_all = sum(found for _, found, _ in days)
    decided_all = sum(decided for _, _, decided in days)
    summary = f"In {len(days)} days {found_all:,} changes were found and {decided_all:,} decided."
    return Chart(WIDTH, height, tuple(bars), tuple(texts), base, summary)


def shares(rows: Sequence[tuple[str, int, int]]) -> Chart:
    """One horizontal bar a row: how much of the whole is done. `rows` are (label, done, whole)."""
    line = 34
    height = max(line, line * len(rows))
    left, right = 0.0, WIDTH - 96.0
    bars: list[Bar] = []
    texts: list[Text] = []
    for place, (label, done, whole) in enumerate(rows):
        y = place * line
        share = done / whole if whole else 0.0
        bars.append(Bar(left, y + 18, right, 8, f"{label}: {whole:,} columns", "bar back"))
        if done:
            bars.append(
                Bar(left, y + 18, round(max(3.0, right * share), 1), 8, f"{label}: {done:,} of {whole:,}")
            )
        texts.append(Text(left, y + 12, label))
        texts.append(Text(WIDTH, y + 26, f"{share:.0%} of {whole:,}", "end", "strong"))
    summary = "; ".join(f"{label}: {done:,} of {whole:,}" for label, done, whole in rows)
    return Chart(WIDTH, height, tuple(bars), tuple(texts), None, summary)
