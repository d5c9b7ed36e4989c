"""Reading sealed rows as fast as the database can give them, as the texts that were hashed. For `checking` only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection

from aide.audit.marks import SORTED, canonical, text_of
from aide.audit.models import AuditEntry

AT_ONCE = 2_000


class SealedRow(NamedTuple):
    """One row of the chain with the text of its content; `digest` is the hash that it has."""

    id: int
    place: int
    digest: str
    mark: str
    text: str


def sealed_rows(upto: int) -> Iterator[SealedRow]:
    """The rows with a place, by their place, some thousand at a time, up to this place."""
    read = _from_postgresql if connection.vendor == "postgresql" else _from_any
    after = 0
    while True:
        found = read(after, upto)
        yield from found
        if len(found) < AT_ONCE:
            return
        after = found[-1].place


def _from_any(after: int, upto: int) -> list[SealedRow]:
    rows = AuditEntry.objects.filter(place__gt=after, place__lte=upto).order_by("place")
    values = rows.values_list("id", "place", "hash", "mark", *SORTED)[:AT_ONCE]
    return [SealedRow(pk, place, digest, mark, text_of(row)) for pk, place, digest, mark, *row in values]


def _piece(name: str) -> str:
    """SQL that writes one value of the text."""
    value = {
        "at": """'"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00"'""",
        "actor_id": "coalesce(actor_id::text, 'null')",
        "dataset_id": "coalesce(dataset_id::text, 'null')",
        "touches_pii": "touches_pii::text",
    }.get(name, f"to_json({name})::text")
    return f"""'"{name}":' || {value}"""


def _pieces(names: tuple[str, ...]) -> str:
    return " || ',' || ".join(_piece(name) for name in names)


# The server writes the text but for the two values that are JSON: their keys have another order there.
_AFTER, _BEFORE = SORTED.index("after"), SORTED.index("before")
_STATEMENT = f"""
SELECT id, place, hash, mark, {_pieces(SORTED[:_AFTER])}, after, {_pieces(SORTED[_AFTER + 1 : _BEFORE])}, before,
{_pieces(SORTED[_BEFORE + 1 :])} FROM audit_auditentry WHERE place > %s AND place <= %s ORDER BY place LIMIT %s
"""  # noqa: S608 - names of columns
_UNESCAPED = re.compile(r"[^\x00-\x7e]")
_decode = json.JSONDecoder().decode


def _from_postgresql(after: int, upto: int) -> list[SealedRow]:
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [after, upto, AT_ONCE])
        return [
            SealedRow(
                pk,
                place,
                digest,
                mark,
                _ascii(
                    f'{{{one},"after":{"null" if new is None else canonical(_decode(new))},{two}'
                    f',"before":{"null" if old is None else canonical(_decode(old))},{three}}}'
                ),
            )
            for pk, place, digest, mark, one, new, two, old, three in cursor
        ]


def _ascii(text: str) -> str:
    """The text with everything escaped that Python's JSON escapes and PostgreSQL's does not."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNESCAPED.sub(lambda found: json.dumps(found.group())[1:-1], text)
