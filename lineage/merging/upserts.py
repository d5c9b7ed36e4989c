"""Rows that are there or not: one statement writes many, merging with what is there. For the graph's writers only."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import msgspec
from django.db import connection, models

from lineage.merging.statements import Script

CHUNK = 500
PIECE = 5_000
Row = tuple[Any, ...]
Sets = Callable[[str], Mapping[str, str]]
"""By the table's name: how each column of a row that is there and of a new one come together."""
TOLD, AS_TOLD = ("origin", "ended_at", "reason"), ("event", None, "")
"""What an edge has that an event tells."""


def least(*terms: str) -> str:
    return f"{'LEAST' if connection.vendor == 'postgresql' else 'MIN'}({', '.join(terms)})"


def greatest(*terms: str) -> str:
    return f"{'GREATEST' if connection.vendor == 'postgresql' else 'MAX'}({', '.join(terms)})"


def span_sets(table: str) -> dict[str, str]:
    """How the times of a row that is there and of a new one come together."""
    return {
        "first_seen": least(f"{table}.first_seen", "excluded.first_seen"),
        "last_seen": greatest(f"{table}.last_seen", "excluded.last_seen"),
    }


def use_sets(table: str) -> dict[str, str]:
    """The same for what a run did with a node: its facets were merged before."""
    return span_sets(table) | {"facets": "excluded.facets"}


def edge_sets(table: str) -> dict[str, str]:
    """The same for an edge: one that had ended and is seen later has not ended."""
    last = greatest(f"{table}.last_seen", "excluded.last_seen")
    both = greatest(
        f"COALESCE({table}.ended_at, excluded.ended_at)", f"COALESCE(excluded.ended_at, {table}.ended_at)"
    )
    return span_sets(table) | {
        "ended_at": (
            f"CASE WHEN {table}.origin = 'manual' THEN "
            f"(CASE WHEN {table}.ended_at IS NULL OR excluded.ended_at IS NULL THEN NULL ELSE {both} END) "
            f"WHEN {both} >= {last} THEN {both} ELSE NULL END"
        )
    }


def column_edge_sets(table: str) -> dict[str, str]:
    """The same for columns: masked only if every report says so; of two words the first in their order."""
    binary = ' COLLATE "C"' if connection.vendor == "postgresql" else ""
    words = least(f"{table}.transformation{binary}", f"excluded.transformation{binary}")
    both = f"{table}.masking AND excluded.masking"
    return edge_sets(table) | {
        "masking": f"({both})",
        "transformation": (
            f"CASE WHEN {table}.transformation = '' THEN excluded.transformation "
            f"WHEN excluded.transformation = '' THEN {table}.transformation ELSE {words} END"
        ),
    }


def add_upsert(
    script: Script, model: type[models.Model], names: Row, rows: Iterable[Row], *, unique: int, sets: Sets
) -> None:
    """Write rows of these attributes, merging with those that are there, in the order of their keys.

    The first `unique` attributes are the key. Rows that merging would not change are left alone.
    """
    _add(
        script,
        model,
        names,
        sorted(rows, key=itemgetter(*range(unique))),
        _upsert_tail(model, names, unique, sets, connection.vendor),
    )


def add_insert(
    script: Script, model: type[models.Model], names: Row, rows: Sequence[Row], *, unique: str
) -> None:
    """Write rows of these attributes that are not there by `unique`."""
    _add(script, model, names, rows, f"ON CONFLICT ({unique}) DO NOTHING")


def add_update(script: Script, model: type[models.Model], names: Row, rows: Iterable[Row]) -> None:
    """Write these attributes of rows that are there, in the order of their ids; the first attribute is the id."""
    table = model._meta.db_table
    listed = sorted(rows, key=itemgetter(0))
    columns = _columns(model, names, connection.vendor)
    if connection.vendor == "postgresql":
        sets = ", ".join(f"{each} = x.{each}" for each, _, _ in columns[1:])
        for some in chunks(listed, PIECE):
            script.add(
                f"UPDATE {table} SET {sets} FROM {_records(columns)} WHERE {table}.id = x.id",  # noqa: S608
                _document(columns, some),
            )
        return
    sets = ", ".join(f"{each} = %s" for each, _, _ in columns[1:])
    for pk, *values in listed:
        prepare = [prepared(value, field) for value, (_, _, field) in zip(values, columns[1:], strict=True)]
        script.add(f"UPDATE {table} SET {sets} WHERE id = %s", *prepare, pk)  # noqa: S608


def inserted(
    model: type[models.Model], names: Row, rows: Sequence[Row], *, unique: str = ""
) -> list[tuple[Any, ...]]:
    """Write rows of these attributes, in their order. (id, value of `unique`) of each that was not there by `unique`.

    Without it all are new, and the lock of the graph keeps others from the same.
    """
    script = Script()
    tail = f"ON CONFLICT ({unique}) DO NOTHING RETURNING id, {unique}" if unique else "RETURNING id"
    _add(script, model, names, rows, tail)
    return [row for each in script.run() for row in each]


def _add(script: Script, model: type[models.Model], names: Row, rows: Sequence[Row], tail: str) -> None:
    """PostgreSQL gets one JSON text: that is the shortest way in."""
    table = model._meta.db_table
    columns = _columns(model, names, connection.vendor)
    head = f"INSERT INTO {table} ({', '.join(each for each, _, _ in columns)})"
    if connection.vendor == "postgresql":
        for some in chunks(rows, PIECE):
            listed = ", ".join(f"x.{each}" for each, _, _ in columns)
            script.add(f"{head} SELECT {listed} FROM {_records(columns)} {tail}", _document(columns, some))  # noqa: S608
        return
    marks = f"({', '.join(['%s'] * len(columns))})"
    for some in chunks(rows):
        values = [
            prepared(value, field) for row in some for value, (_, _, field) in zip(row, columns, strict=True)
        ]
        script.add(f"{head} VALUES {', '.join([marks] * len(some))} {tail}", *values)


@cache
def _upsert_tail(model: type[models.Model], names: Row, unique: int, sets: Sets, vendor: str) -> str:
    table = model._meta.db_table
    keys = ", ".join(each for each, _, _ in _columns(model, names, vendor)[:unique])
    terms = sets(table)
    changes = ", ".join(f"{name} = {term}" for name, term in terms.items())
    is_not = "IS NOT" if vendor == "sqlite" else "IS DISTINCT FROM"
    differs = " OR ".join(f"({term}) {is_not} {table}.{name}" for name, term in terms.items())
    return f"ON CONFLICT ({keys}) DO UPDATE SET {changes} WHERE {differs}"


@cache
def _columns(model: type[models.Model], names: Row, vendor: str) -> tuple[tuple[str, str, Any], ...]:
    """(column, type, field) of each attribute."""
    by_attribute: dict[str, Any] = {field.attname: field for field in model._meta.concrete_fields}
    return tuple(
        (by_attribute[name].column, by_attribute[name].db_type(connection), by_attribute[name])
        for name in names
    )


@cache
def _records(columns: tuple[tuple[str, str, Any], ...]) -> str:
    return f"json_to_recordset(%s::json) AS x({', '.join(f'{name} {kind}' for name, kind, _ in columns)})"


def _document(columns: Sequence[tuple[str, str, Any]], rows: Sequence[Row]) -> str:
    names = [name for name, _, _ in columns]
    return msgspec.json.encode([dict(zip(names, row, strict=True)) for row in rows]).decode()


def copy_rows(
    model: type[models.Model],
    *,
    columns: Mapping[str, str],
    where: str,
    params: Sequence[Any],
    unique: Sequence[str],
    sets: Mapping[str, str],
) -> None:
    """INSERT … SELECT from the table itself: `columns` maps each to what is selected for it."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns.values())} "  # noqa: S608
            f"FROM {table} AS moved WHERE {where} "
            f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET "
            + ", ".join(f"{name} = {term}" for name, term in sets.items()),
            params,
        )


def prepared(value: Any, field: Any) -> Any:
    """How a value goes to the database in plain SQL."""
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    if isinstance(value, dt.datetime | uuid.UUID):
        return field.get_db_prep_save(value, connection)
    return value


def chunks(ids: Iterable[Any], size: int = CHUNK) -> Iterable[list[Any]]:
    """Lists of at most so many."""
    listed = list(ids)
    return (listed[start : start + size] for start in range(0, len(listed), size))
