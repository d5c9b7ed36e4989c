"""Rows that are there or not: one statement writes many, merging with what is there. For the graph's writers only."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from django.db import connection, models

CHUNK = 500
PIECE = 5_000
GRAPH_LOCK = 4_714_201_305
"""One writer of the graph at a time on PostgreSQL, so that what it reads stays true until it has written."""


def lock_graph() -> None:
    """Wait for the turn to write the graph, at most four seconds; held until the transaction ends.

    SQLite has one writer anyway. Raises OperationalError when the wait is too long.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '4s'; SELECT pg_advisory_xact_lock({GRAPH_LOCK})")


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


def upsert(
    model: type[models.Model],
    rows: Sequence[Mapping[str, Any]],
    *,
    unique: Sequence[str],
    sets: Mapping[str, str],
) -> None:
    """Write rows (attname → value), merging with those that are there, in the order of their keys.

    Rows that merging would not change are left alone.
    """
    if not rows:
        return
    table = model._meta.db_table
    names = list(rows[0])
    fields = fields_of(model, names)
    columns = ", ".join(field.column for field in fields)
    keys = [field.column for field in fields_of(model, unique)]
    changes = ", ".join(f"{name} = {term}" for name, term in sets.items())
    differs = " OR ".join(f"({term}) IS DISTINCT FROM {table}.{name}" for name, term in sets.items())
    if connection.vendor == "sqlite":
        differs = " OR ".join(f"({term}) IS NOT {table}.{name}" for name, term in sets.items())
    tail = (
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes} WHERE {differs}"
        if sets
        else "ON CONFLICT DO NOTHING"
    )
    ordered = sorted(rows, key=lambda row: tuple(str(row[name]).rjust(20) for name in unique))
    with connection.cursor() as cursor:
        for source, params in _sources(fields, names, ordered):
            cursor.execute(f"INSERT INTO {table} ({columns}) {source} {tail}", params)


def _sources(
    fields: Sequence[Any], names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[str, list[Any]]]:
    """What to insert, in pieces, and its parameters. PostgreSQL gets one JSON text: that is the shortest way in."""
    for some in chunks(rows, PIECE if connection.vendor == "postgresql" else CHUNK):
        if connection.vendor == "postgresql":
            source = f"SELECT {_listed(fields)} FROM {_records(fields)}"  # noqa: S608
            yield source, [_document(fields, names, some)]
        else:
            marks = f"({', '.join(['%s'] * len(names))})"
            values = [
                prepared(row[name], each) for row in some for name, each in zip(names, fields, strict=True)
            ]
            yield f"VALUES {', '.join([marks] * len(some))}", values


def _listed(fields: Sequence[Any]) -> str:
    return ", ".join(f"x.{each.column}" for each in fields)


def _records(fields: Sequence[Any]) -> str:
    kinds = ", ".join(f"{each.column} {each.db_type(connection)}" for each in fields)
    return f"json_to_recordset(%s::json) AS x({kinds})"


def _document(fields: Sequence[Any], names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    columns = [each.column for each in fields]
    if columns != list(names):
        rows = [dict(zip(columns, map(row.get, names), strict=True)) for row in rows]
    return msgspec.json.encode(rows).decode()


def insert_rows(model: type[models.Model], rows: Sequence[Any]) -> None:
    """Write new rows and give them their ids, in their order. The lock of the graph keeps others from the same."""
    if connection.vendor != "postgresql":
        model._base_manager.bulk_create(rows)
        return
    names = [each.attname for each in model._meta.concrete_fields if not each.primary_key]
    fields = fields_of(model, names)
    table = model._meta.db_table
    columns = ", ".join(each.column for each in fields)
    with connection.cursor() as cursor:
        for some in chunks(rows, PIECE):
            values = [{name: getattr(row, name) for name in names} for row in some]
            cursor.execute(
                f"INSERT INTO {table} ({columns}) SELECT {_listed(fields)} FROM {_records(fields)} RETURNING id",  # noqa: S608
                [_document(fields, names, values)],
            )
            for row, (pk,) in zip(some, cursor.fetchall(), strict=True):
                row.pk = pk
                row._state.adding = False


def update_rows(model: type[models.Model], rows: Sequence[Any], names: Sequence[str]) -> None:
    """Write these attributes of rows that are there, in the order of their ids."""
    if not rows:
        return
    ordered = sorted(rows, key=lambda row: row.pk)
    table = model._meta.db_table
    fields = fields_of(model, ["id", *names])
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sets = ", ".join(f"{each.column} = x.{each.column}" for each in fields[1:])
            values = [{name: getattr(row, name) for name in ("id", *names)} for row in ordered]
            for some in chunks(values, PIECE):
                cursor.execute(
                    f"UPDATE {table} SET {sets} FROM {_records(fields)} WHERE {table}.id = x.id",  # noqa: S608
                    [_document(fields, ["id", *names], some)],
                )
        else:
            sets = ", ".join(f"{each.column} = %s" for each in fields[1:])
            cursor.executemany(
                f"UPDATE {table} SET {sets} WHERE id = %s",  # noqa: S608
                [
                    [*(prepared(getattr(row, each.attname), each) for each in fields[1:]), row.pk]
                    for row in ordered
                ],
            )


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


def fields_of(model: type[models.Model], names: Iterable[str]) -> list[Any]:
    """The fields that keep these attributes."""
    by_attribute = {field.attname: field for field in model._meta.concrete_fields}
    return [by_attribute[name] for name in names]


def prepared(value: Any, field: Any) -> Any:
    """How a value goes to the database in plain SQL."""
    if isinstance(value, dt.datetime | uuid.UUID | dict | list):
        if isinstance(value, dict | list):
            return json.dumps(value)
        return field.get_db_prep_save(value, connection)
    return value


def inserted(model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, unique: str) -> dict[Any, int]:
    """Insert what is not there by `unique`, as ordered; the ids of the new rows by that column's value."""
    found: dict[Any, int] = {}
    if not rows:
        return found
    table = model._meta.db_table
    names = list(rows[0])
    fields = fields_of(model, names)
    columns = ", ".join(field.column for field in fields)
    with connection.cursor() as cursor:
        for source, params in _sources(fields, names, rows):
            cursor.execute(
                f"INSERT INTO {table} ({columns}) {source} "
                f"ON CONFLICT ({unique}) DO NOTHING RETURNING {unique}, id",
                params,
            )
            found.update(cursor.fetchall())
    return found


def chunks(ids: Iterable[Any], size: int = CHUNK) -> Iterable[list[Any]]:
    """Lists of at most so many."""
    listed = list(ids)
    return (listed[start : start + size] for start in range(0, len(listed), size))
