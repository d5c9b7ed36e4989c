"""Writing many rows at once: COPY on PostgreSQL, one prepared statement elsewhere. No save() and no signals run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from django.db import connection, models
from django.utils import timezone

Convert = Callable[[Any], Any]
FEW = 40
"""Below so many rows one INSERT, which brings the ids back by itself, is the shorter way."""
AT_ONCE = 500
"""So many rows go into one UPDATE, which keeps its parameters small."""


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
    missing = [row for row in rows if row.pk is None]
    for row, number in zip(missing, _new_ids(model, len(missing)), strict=True):
        row.pk = number
    fields = model._meta.concrete_fields
    clocks = [field.attname for field in fields if _is_clock(field)]
    now = timezone.now()
    for row in rows:
        row.__dict__.update(dict.fromkeys(clocks, now))
    values = map(itemgetter(*(field.attname for field in fields)), (row.__dict__ for row in rows))
    _write(model, fields, values)
    for row in rows:
        row._state.adding = False
        row._state.db = connection.alias


def insert_values(model: Any, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """Write new rows that are given as plain values, in the order of the named columns, and return their ids.

    A foreign key is named with its `_id`. Columns that are not named have their default. For rows that nobody needs
    as objects: it costs a fraction of `insert`, and holds what `insert` holds.
    """
    if len(rows) < FEW:
        few = [model(**dict(zip(names, row, strict=True))) for row in rows]
        insert(few)
        return [row.pk for row in few]
    ids = _new_ids(model, len(rows))
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    key = model._meta.pk
    rest = [field for name, field in by_name.items() if name not in names and field is not key]
    now = timezone.now()
    same = tuple(now if _is_clock(field) else field.get_default() for field in rest)
    prepared = tuple(_prepared(field)(value) for field, value in zip(rest, same, strict=True))
    fields = [key, *(by_name[name] for name in names), *rest]
    written = len(names) + 1
    _write(model, fields, ((number, *row, *prepared) for number, row in zip(ids, rows, strict=True)), written)
    return ids


def update(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """Write the named columns of existing rows of one model; one statement for each `AT_ONCE` of them."""
    if not rows:
        return
    model: Any = type(rows[0])
    key = model._meta.pk
    fields = [*(model._meta.get_field(name) for name in names), key]
    prepares = [_prepared(field) for field in fields]
    table, column = connection.ops.quote_name(model._meta.db_table), connection.ops.quote_name(key.column)
    values = [
        [prepare(getattr(row, field.attname)) for field, prepare in zip(fields, prepares, strict=True)]
        for row in rows
    ]
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            sets = ", ".join(f"{connection.ops.quote_name(field.column)} = %s" for field in fields[:-1])
            cursor.executemany(f"UPDATE {table} SET {sets} WHERE {column} = %s", values)  # noqa: S608
            return
        own = [connection.ops.quote_name(field.column) for field in fields]
        sets = ", ".join(f"{each} = v.{each}" for each in own[:-1])
        arrays = ", ".join(f"%s::{field.rel_db_type(connection)}[]" for field in map(_target, fields))
        statement = (
            f"UPDATE {table} AS t SET {sets} "  # noqa: S608
            f"FROM unnest({arrays}) AS v({', '.join(own)}) WHERE t.{column} = v.{column}"
        )
        for start in range(0, len(values), AT_ONCE):
            cursor.execute(
                statement, [list(each) for each in zip(*values[start : start + AT_ONCE], strict=True)]
            )


def _write(
    model: Any, fields: Sequence[Any], rows: Iterable[tuple[Any, ...]], first: int | None = None
) -> None:
    """Write rows of the fields' values; the values from the place `first` on are prepared already."""
    values = _converted(rows, [_prepare(field) for field in fields[:first]])
    table = connection.ops.quote_name(model._meta.db_table)
    columns = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = f"COPY {table} ({columns}) FROM STDIN"
            with connection.wrap_database_errors, cursor.cursor.copy(statement) as copy:
                write = copy.write_row
                for row in values:
                    write(row)
        else:
            marks = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values))  # noqa: S608


def _converted(
    rows: Iterable[tuple[Any, ...]], prepares: Sequence[Convert | None]
) -> Iterator[Sequence[Any]]:
    todo = [(place, prepare) for place, prepare in enumerate(prepares) if prepare is not None]
    for row in rows:
        changed = None
        for place, prepare in todo:
            if row[place] is not None:
                changed = changed or list(row)
                changed[place] = prepare(row[place])
        yield changed or row


def _new_ids(model: Any, count: int) -> list[int]:
    if not count:
        return []
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                # OFFSET 0: the sequence is looked up once, not for every number.
                "SELECT array_agg(nextval(s.name)) FROM "
                "(SELECT pg_get_serial_sequence(%s, %s)::regclass AS name OFFSET 0) s, generate_series(1, %s)",
                [connection.ops.quote_name(table), column, count],
            )
            return list(cursor.fetchone()[0])
        # The transaction holds SQLite's write lock, so nobody else can take these numbers.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()
        first = (last[0] if last else 0) + 1
        return list(range(first, first + count))


def _is_clock(field: Any) -> bool:
    return bool(getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False))


def _target(field: Any) -> Any:
    """The field whose type a column has: for a foreign key the key that it points at."""
    return field.target_field if field.is_relation else field


def _prepared(field: Any) -> Convert:
    prepare = _prepare(field)
    if prepare is None:
        return lambda value: value
    return lambda value: None if value is None else prepare(value)


def _prepare(field: Any) -> Convert | None:
    """How a value that is not None goes to the database; None where it goes as it is."""
    field = _target(field)
    if isinstance(field, models.JSONField):
        return lambda value: json.dumps(value, cls=field.encoder)
    plain = isinstance(
        field,
        models.CharField | models.TextField | models.IntegerField | models.BooleanField,
    )
    if plain or (isinstance(field, models.DateTimeField) and connection.vendor == "postgresql"):
        return None
    return lambda value: field.get_db_prep_save(value, connection)
