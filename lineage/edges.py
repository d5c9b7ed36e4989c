"""The tables of edges in SQL, for lineage/graph.py alone: one step of a walk, and the edges between what was kept."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from django.db import connection

from lineage.models import ColumnEdge, Edge, Job

Way = Literal["up", "down"]
Pair = tuple[int, int]
"""(near, far): the id that is nearer to the start, and the one that it leads to."""


class EdgeRow(NamedTuple):
    """An edge as it is answered; masking and transformation are of columns."""

    pk: int
    source: int
    target: int
    job: str
    job_namespace: str
    first_seen: dt.datetime
    last_seen: dt.datetime
    ended_at: dt.datetime | None
    origin: str
    transformation: str = ""
    masking: bool = False


class Steps:
    """The edges of one level, gone through one way, as they are now or were at a moment. One statement a call."""

    def __init__(
        self, model: type[Edge] | type[ColumnEdge], way: Way, as_of: dt.datetime | None = None
    ) -> None:
        self.table = model._meta.db_table
        self.near, self.far = ("source_id", "target_id") if way == "down" else ("target_id", "source_id")
        self.is_down = way == "down"
        self.has_words = model is ColumnEdge
        self.condition, self.params = "ended_at IS NULL", list[Any]()
        if as_of is not None:
            self.condition = "first_seen <= %s AND (ended_at IS NULL OR ended_at > %s)"
            self.params = [connection.ops.adapt_datetimefield_value(as_of)] * 2

    def all_from(self, frontier: Iterable[int]) -> list[int]:
        """Everything that a frontier leads to, each once."""
        return [
            pk
            for (pk,) in _rows(
                f"SELECT DISTINCT {self.far} FROM {self.table} "  # noqa: S608
                f"WHERE {_among(self.near)} AND {self.condition}",
                [_listed(frontier), *self.params],
            )
        ]

    def closure(self, begin: Sequence[int]) -> set[int]:
        """Everything that can be reached, the beginning included; each node once, however many ways lead there."""
        roots = "SELECT unnest(%s::bigint[])"
        if connection.vendor != "postgresql":
            roots = "SELECT value FROM json_each(%s)"
        rows = _rows(
            f"WITH RECURSIVE reached(id) AS ({roots} UNION SELECT {self.far} FROM {self.table} "  # noqa: S608
            f"JOIN reached ON {self.near} = reached.id WHERE {self.condition}) SELECT id FROM reached",
            [_listed(begin), *self.params],
        )
        return {pk for (pk,) in rows}

    def first_from(self, frontier: Iterable[int], *, looked_at: int, most: int) -> tuple[list[Pair], int]:
        """What the first edges of a frontier lead to, at most `most` of it, each with the least id that leads there.

        In the order of those ids; and how many edges were looked at: one more than `looked_at` if there are more.
        """
        rows = _rows(
            f"SELECT MIN(near), far, CAST(SUM(COUNT(*)) OVER () AS bigint) FROM ({self._pairs()}) AS looked "  # noqa: S608
            "GROUP BY far ORDER BY 1, 2 LIMIT %s",
            [_listed(frontier), *self.params, looked_at + 1, most],
        )
        return [(near, far) for near, far, _ in rows], rows[0][2] if rows else 0

    def between(self, near: Iterable[int], far: Iterable[int], *, looked_at: int, most: int) -> list[EdgeRow]:
        """The edges from the one to the other, in their order; of those that lead elsewhere the index is read."""
        return self._edges(
            f"SELECT DISTINCT near, far FROM ({self._pairs()}) AS looked WHERE {_among('far')} "  # noqa: S608
            "ORDER BY near, far LIMIT %s",
            [_listed(near), *self.params, looked_at, _listed(far), most],
            most=most,
        )

    def of_pairs(self, pairs: Sequence[Pair]) -> list[EdgeRow]:
        """One edge of each of these pairs, the first of those that there are."""
        found: dict[Pair, EdgeRow] = {}
        if connection.vendor == "postgresql":
            source = "SELECT * FROM unnest(%s::bigint[], %s::bigint[]) AS wanted(near, far)"
            params: list[Any] = [list(place) for place in zip(*pairs, strict=True)]
        else:
            ends = "json_extract(value, '$[0]') AS near, json_extract(value, '$[1]') AS far"
            source = f"SELECT {ends} FROM json_each(%s)"  # noqa: S608 (ours)
            params = [json.dumps(pairs)]
        for row in self._edges(source, params, most=len(pairs) * 10):
            found.setdefault((row.source, row.target), row)
        return list(found.values())

    def _pairs(self) -> str:
        """The ends of the first edges of a frontier, from an index alone; its last parameter is how many."""
        return (
            f"SELECT {self.near} AS near, {self.far} AS far FROM {self.table} "  # noqa: S608
            f"WHERE {_among(self.near)} AND {self.condition} ORDER BY {self.near}, {self.far} LIMIT %s"
        )

    def _edges(self, pairs: str, params: list[Any], *, most: int) -> list[EdgeRow]:
        """Edges in full, pair by pair, so that no plan reads the whole table."""
        names = [
            "id",
            self.near,
            self.far,
            "job_id",
            *map(_text, ("first_seen", "last_seen", "ended_at")),
            "origin",
        ]
        names += ["transformation", "masking"] if self.has_words else []
        whole = f"SELECT {', '.join(names)} FROM {self.table} AS e"  # noqa: S608
        if connection.vendor == "postgresql":
            tail = (
                f"FROM pair, LATERAL ({whole} WHERE e.{self.near} = pair.near AND e.{self.far} = pair.far "
                f"AND {self.condition} OFFSET 0) AS edge"
            )
            statement = f"WITH pair AS MATERIALIZED ({pairs}) SELECT edge.* {tail} LIMIT %s"
        else:
            tail = (
                f"JOIN pair ON e.{self.near} = pair.near AND e.{self.far} = pair.far WHERE {self.condition}"
            )
            statement = f"WITH pair AS MATERIALIZED ({pairs}) {whole} {tail} LIMIT %s"
        rows = _rows(statement, [*params, *self.params, most])
        jobs = {
            pk: (name, namespace)
            for pk, name, namespace in _rows(
                f"SELECT id, name, namespace FROM {Job._meta.db_table} WHERE {_among('id')}",  # noqa: S608
                [_listed({row[3] for row in rows})],
            )
        }
        found = []
        for pk, near, far, job, first, last, ended, *rest in rows:
            source, target = (near, far) if self.is_down else (far, near)
            name, namespace = jobs[job]
            end = _moment(ended) if ended is not None else None
            words = (rest[1], bool(rest[2])) if self.has_words else ("", False)
            found.append(
                EdgeRow(
                    pk, source, target, name, namespace, _moment(first), _moment(last), end, rest[0], *words
                )
            )
        return found


def rows_with(statement: str, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    """The rows of a statement in which `{column}` stands for the condition that the column is one of the ids."""
    before, _, rest = statement.partition("{")
    column, _, after = rest.partition("}")
    return _rows(f"{before}{_among(column)}{after}", [_listed(ids)])


def _among(column: str) -> str:
    """The condition that a column's value is one of a list, of any length: one parameter, made by `_listed`."""
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s::bigint[])"
    return f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 (columns of ours)


def _listed(ids: Iterable[int]) -> Any:
    listed = list(ids)
    return listed if connection.vendor == "postgresql" else json.dumps(listed)


def _rows(statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def _text(column: str) -> str:
    """A time as text: reading thousands of times is quick only by `_moment`."""
    return f"CAST({column} AS text)"


def _moment(text: str) -> dt.datetime:
    """A time as the database writes it; SQLite leaves out the zone, which is UTC."""
    found = dt.datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)
