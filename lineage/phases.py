"""What an action says about the course of something: that it began, goes on, or is over. Pure."""

from __future__ import annotations

import re
from enum import StrEnum


class Phase(StrEnum):
    """Where in its course something is."""

    BEGAN = "began"
    OVER = "over"
    FAILED = "failed"
    POINT = "point"


_WORDS = {
    **dict.fromkeys(
        ("START", "STARTED", "BEGIN", "BEGAN", "BEGUN", "OPEN", "OPENED", "INITIATED"), Phase.BEGAN
    ),
    **dict.fromkeys(
        (
            "COMPLETE",
            "COMPLETED",
            "END",
            "ENDED",
            "FINISH",
            "FINISHED",
            "SUCCEEDED",
            "SUCCESS",
            "DONE",
            "CLOSED",
        ),
        Phase.OVER,
    ),
    **dict.fromkeys(
        (
            "FAIL",
            "FAILED",
            "FAILURE",
            "ERROR",
            "ABORT",
            "ABORTED",
            "CANCELLED",
            "CANCELED",
            "TIMEOUT",
            "KILLED",
        ),
        Phase.FAILED,
    ),
}
_PARTS = re.compile(r"[^A-Z0-9]+")


def read(action: str) -> tuple[str, Phase]:
    """(what it is about, phase): TRAINING_STARTED is TRAINING, began; DATA_WRITTEN is itself, a point in time."""
    parts = [part for part in _PARTS.split(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", action).upper()) if part]
    for place in (-1, 0):
        if parts and parts[place] in _WORDS:
            phase = _WORDS[parts[place]]
            rest = parts[:-1] if place == -1 else parts[1:]
            return "_".join(rest), phase
    return "_".join(parts), Phase.POINT
