"""Writing many rows at once: COPY on PostgreSQL, one prepared statement elsewhere. No save() and no signals run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection, models

Prepare = Callable[[Any, models.Model], Any]
FEW = 40
"""Below so many rows one INSERT, which brings the ids back by itself, is the shorter way."""


def insert(rows: Sequence[models.Model]) -> None:
    """Write new rows of one model, all or none, and give them their ids.

    Columns with `auto_now` and `auto_now_add` are filled. Must run inside a transaction. Raises IntegrityError as
    any insert does.
    """
    if not rows:
        return
    model: Any = type(rows[0])
    if len(rows) < FEW:
        model._base_manager.bulk_create(rows)
        return
    _give_ids(model, [row for row in rows if row.pk is None])
    fields = model._meta.concrete_fields
    prepares = [_prepare(field) for field in fields]
    table = connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    values = (
        [prepare(getattr(row, field.attname), row) for field, prepare in zip(fields, prepares, strict=True)]
        for row in rows
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = f"COPY {table} ({columns}) FROM STDIN"
            with connection.wrap_database_errors, cursor.cursor.copy(statement) as copy:
                for each in values:
                    copy.write_row(each)
        else:
            marks = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values))  # noqa: S608
    for row in rows:
        row._state.adding = False
        row._state.db = connection.alias


def update(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """Write the named columns of existing rows of one model."""
    if not rows:
        return
    model: Any = type(rows[0])
    fields = [model._meta.get_field(name) for name in names]
    prepares = [_prepare(field) for field in fields]
    table = connection.ops.quote_name(model._meta.db_table)
    sets = ", ".join(f"{connection.ops.quote_name(field.column)} = %s" for field in fields)
    key = connection.ops.quote_name(model._meta.pk.column)
    values = [
        [
            *(prepare(getattr(row, f.attname), row) for f, prepare in zip(fields, prepares, strict=True)),
            row.pk,
        ]
        for row in rows
    ]
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {sets} WHERE {key} = %s", values)  # noqa: S608


def _give_ids(model: Any, rows: Sequence[models.Model]) -> None:
    if not rows:
        return
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [connection.ops.quote_name(table), column, len(rows)],
            )
            ids = [number for (number,) in cursor.fetchall()]
        else:
            # The transaction holds SQLite's write lock, so nobody else can take these numbers.
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            last = cursor.fetchone()
            first = (last[0] if last else 0) + 1
            ids = list(range(first, first + len(rows)))
    for row, number in zip(rows, ids, strict=True):
        row.pk = number


def _prepare(field: Any) -> Prepare:
    """How a column's value goes to the database; the plain kinds go as they are."""
    if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
        return lambda _value, row: field.get_db_prep_save(field.pre_save(row, True), connection)
    plain = isinstance(
        field,
        models.CharField | models.TextField | models.IntegerField | models.BooleanField | models.ForeignKey,
    )
    if plain:
        return lambda value, _row: value
    return lambda value, _row: field.get_db_prep_save(value, connection)
