"""How every benchmark measures: a figure and its floor in turn, in one run, so that only their ratio counts."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROUNDS = 5


@dataclass(frozen=True)
class Ratio:
    """The medians of both in seconds, and the median of the ratios of neighbouring runs."""

    figure: float
    floor: float
    ratio: float

    def line(self, name: str, floor: str, note: str = "") -> str:
        return (
            f"{name:<46} {self.figure:8.3f} s   floor ({floor}) {self.floor:8.3f} s   "
            f"ratio {self.ratio:5.2f}{'   ' + note if note else ''}"
        )


def in_turn(figure: Callable[[], float], floor: Callable[[], float], *, rounds: int = ROUNDS) -> Ratio:
    """Both, one after the other, in changing order; each call gives the seconds that it took."""
    pairs = []
    for number in range(rounds):
        gc.collect()
        if number % 2:
            low = floor()
            pairs.append((figure(), low))
        else:
            high = figure()
            pairs.append((high, floor()))
    return Ratio(
        statistics.median(high for high, _ in pairs),
        statistics.median(low for _, low in pairs),
        statistics.median(high / low for high, low in pairs),
    )


def timed(action: Callable[[], object]) -> Callable[[], float]:
    """An action that tells how long it took."""

    def run() -> float:
        began = time.perf_counter()
        action()
        return time.perf_counter() - began

    return run


def process(command: Sequence[str], **environment: str) -> Callable[[], float]:
    """A whole process, with its start; its modules stay compiled for the next one, as in an installation."""
    compiled = {"PYTHONDONTWRITEBYTECODE": ""}

    def run() -> None:
        done = subprocess.run(
            command,
            env={**os.environ, **compiled, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")

    return timed(run)
