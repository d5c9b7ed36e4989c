"""Statements of the graph's writers, many in one go, and how the two databases spell them."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

GRAPH_LOCK = 4_714_201_305
"""One writer of the graph at a time on PostgreSQL, so that what it reads stays true until it has written."""


class Script:
    """Statements in their order. PostgreSQL gets all of them at once: each way there and back costs time."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._params: list[Sequence[Any]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str, *params: Any) -> None:
        """One statement; the marks of its parameters are `%s`."""
        self._texts.append(text)
        self._params.append(params)

    def run(self) -> list[list[tuple[Any, ...]]]:
        """Do them, and forget them. The rows of those that give rows, in their order."""
        texts, params = self._texts, self._params
        self._texts, self._params = [], []
        if not texts:
            return []
        found: list[list[tuple[Any, ...]]] = []
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql" and not _binds_at_the_server():
                cursor.execute("; ".join(texts), [value for each in params for value in each])
                while True:
                    if cursor.description is not None:
                        found.append(cursor.fetchall())
                    if not cursor.nextset():
                        return found
            for text, values in zip(texts, params, strict=True):
                cursor.execute(text, values)
                if cursor.description is not None:
                    found.append(cursor.fetchall())
        return found


def _binds_at_the_server() -> bool:
    """Where the address of the database asks for it, statements cannot go together."""
    return bool(getattr(connection.features, "uses_server_side_binding", False))


def lock_graph() -> None:
    """Wait for the turn to write the graph, at most four seconds; held until the transaction ends.

    SQLite has one writer anyway. Raises OperationalError when the wait is too long.
    """
    script = Script()
    add_lock(script)
    script.run()


def add_lock(script: Script) -> None:
    """The same as the first statements of a script; what it reads after them is as the last writer left it."""
    if connection.vendor == "postgresql":
        script.add("SET LOCAL lock_timeout = '4s'")
        script.add(f"SELECT pg_advisory_xact_lock({GRAPH_LOCK})")


def among(column: str, kind: str) -> str:
    """A condition with one parameter, which `members` makes: the column is one of many."""
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s::{kind}[])"
    return f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 (names of ours)


def members(values: Iterable[int | str | uuid.UUID]) -> str:
    """Numbers, UUIDs or keys (letters and digits only) as the parameter of `among`."""
    if connection.vendor == "postgresql":
        return "{" + ",".join(map(str, values)) + "}"
    return json.dumps([each.hex if isinstance(each, uuid.UUID) else each for each in values])


def moment(text: str | None) -> dt.datetime | None:
    """The time in a column that was read as text."""
    if text is None:
        return None
    found = dt.datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
