"""Which functions carry out which tasks, and which run at every tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Handler = Callable[..., None]


@dataclass(frozen=True)
class Task:
    """A kind of work.

    `lease_seconds`: how long a worker may be silent before another takes the work over.
    `max_attempts`: after so many failures the item is dead and stays for people to see.
    """

    name: str
    handler: Handler
    lease_seconds: int
    max_attempts: int


TASKS: dict[str, Task] = {}
TICKS: dict[str, Callable[[], None]] = {}


def task(name: str, *, lease_seconds: int = 60, max_attempts: int = 5) -> Callable[[Handler], Handler]:
    """Name the function that carries out a task; its keyword arguments are the item's payload."""

    def register(handler: Handler) -> Handler:
        TASKS[name] = Task(name, handler, lease_seconds, max_attempts)
        return handler

    return register


def every_tick(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Run a function at each tick (about every ten seconds, in any number of processes at once).

    The function decides from the database whether anything is due and is harmless when called too often.
    """

    def register(function: Callable[[], None]) -> Callable[[], None]:
        TICKS[name] = function
        return function

    return register
