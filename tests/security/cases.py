"""How a door is knocked at: cases, and the doors of a plain thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.security.matrix import Rule
from tests.security.world import World


@dataclass(frozen=True)
class Case:
    """One way to knock: values for the path, a body, and the rule."""

    rule: Rule
    path: Callable[[World], Any] | None = None
    body: Callable[[World], Any] | None = None
    name: str = ""
    query: str = ""


def case(
    rule: Rule,
    path: Callable[[World], Any] | None = None,
    body: Callable[[World], Any] | None = None,
    *,
    name: str = "",
    query: str = "",
) -> tuple[Case, ...]:
    return (Case(rule, path, body, name, query),)


def crud(
    route: str,
    *,
    reads: Rule,
    lists: Rule,
    writes: Rule,
    thing: Callable[[World], Any],
    new: Callable[[World], Any],
    whole: Callable[[World], Any],
    part: Callable[[World], Any],
    gone: Callable[[World], Any] | None = None,
) -> dict[str, tuple[Case, ...]]:
    """The doors of a plain thing: list, create (one and several), read, change, delete, restore."""
    one = f"{route}/{{pk}}"
    doors = {
        f"GET {route}": case(lists),
        f"POST {route}": (
            *case(writes, body=new),
            *case(writes, body=lambda w: {"items": [new(w)]}, name="several"),
        ),
        f"GET {one}": case(reads, thing),
        f"PUT {one}": case(writes, thing, whole),
        f"PATCH {one}": case(writes, thing, part),
        f"DELETE {one}": case(writes, thing),
    }
    if gone is not None:
        doors[f"POST {one}/restore"] = case(writes, gone)
    return doors
