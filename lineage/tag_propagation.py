"""Confirmed tags of personal data travel along the lineage of columns, as suggestions that wait for a person.

They stop where values are masked, where they only decide what happens (an indirect edge), and at a column for which
someone said no. Everything is worked out anew each time, so what came from a tag that is gone goes, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Max

from aide.audit.entries import new_batch
from aide.work.queue import enqueue
from lineage.models import ColumnEdge, NodeColumn
from lineage.spreading import Spread, spread
from registry import tagging
from registry.models import Dataset, FieldBinding, FieldTag

TASK = "lineage.propagate_tags"
RULE, VERSION = "lineage", "1"
INDIRECT = "INDIRECT"
NEAREST, A_HOP, LEAST = 0.95, 0.03, 0.6
"""How sure the first hop is, what each further one takes away, and below what it never falls."""
LONGEST = 12
"""So many columns of a way are told; the middle of a longer one is left out."""
LEVELS = 40
"""After so many levels of a deep graph the rest of its edges are read at once."""
_CHUNK = 5_000
_REFUSED = (FieldTag.State.REJECTED, FieldTag.State.REMOVED)
_newest: int | None = None
OPEN = FieldTag.objects.filter(until__isnull=True)


@dataclass(frozen=True)
class Propagated:
    """What a propagation did, and the batch by which its new suggestions can be undone."""

    reached: int
    offered: tagging.Offered
    batch: str


def propagate_soon() -> None:
    """Queue a propagation, once, after the caller's transaction."""
    transaction.on_commit(lambda: enqueue(TASK, key=TASK), robust=True)


def propagate_over_new_edges() -> None:
    """Queue a propagation when there are edges that were not there when this process looked last."""
    global _newest
    newest = ColumnEdge.objects.aggregate(newest=Max("pk"))["newest"]
    if newest is not None and newest != _newest:
        _newest = newest
        enqueue(TASK, key=TASK)


@transaction.atomic
def propagate() -> Propagated:
    """Offer every confirmed tag to the columns that are made from its own, and withdraw what no way leads to."""
    batch = new_batch()
    tags = list(
        OPEN.filter(state=FieldTag.State.CONFIRMED).order_by().values_list("tag_id", flat=True).distinct()
    )
    bits = {tag_id: 1 << place for place, tag_id in enumerate(sorted(tags))}
    found = reached(bits)
    claims = _claims(found, bits)
    waiting = OPEN.filter(state=FieldTag.State.SUGGESTED, origin=FieldTag.Origin.LINEAGE)
    fields = {claim.field_id for claim in claims} | set(waiting.values_list("field_id", flat=True))
    offered = tagging.offer(claims, fields=fields, origin=FieldTag.Origin.LINEAGE, batch=batch)
    return Propagated(len(claims), offered, batch)


def reached(bits: dict[int, int]) -> Spread:
    """Where confirmed tags get to over the edges that there are now; `bits` gives the mark of each tag."""
    if not bits:
        return Spread({})
    seeds = _marked(FieldTag.State.CONFIRMED, bits=bits)
    return spread(seeds, Edges().after, stops=_marked(*_REFUSED, bits=bits))


class Edges:
    """The edges on which values flow on in the clear, level by level; the rest at once where it goes deep."""

    def __init__(self) -> None:
        self._asked = 0
        self._rest: dict[int, list[int]] | None = None

    def after(self, columns: list[int]) -> Iterable[tuple[int, int]]:
        self._asked += 1
        if self._rest is None and self._asked > LEVELS:
            self._rest = defaultdict(list)
            for source, target in _pairs("", []):
                self._rest[source].append(target)
        if self._rest is not None:
            return [(source, target) for source in columns for target in self._rest.get(source, ())]
        return _among(columns)


def _among(columns: list[int]) -> Iterator[tuple[int, int]]:
    if connection.vendor == "postgresql":
        yield from _pairs("AND source_id IN (SELECT unnest(%s::bigint[]))", [columns])
        return
    marks = "AND source_id IN (SELECT value FROM json_each(%s))"
    for start in range(0, len(columns), 200_000):
        yield from _pairs(marks, [str(columns[start : start + 200_000])])


def _pairs(where: str, params: Sequence[Any]) -> Iterator[tuple[int, int]]:
    table = ColumnEdge._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT source_id, target_id FROM {table} WHERE ended_at IS NULL AND NOT masking "  # noqa: S608
            f"AND transformation NOT LIKE %s {where} ORDER BY source_id, target_id",
            [f"{INDIRECT}%", *params],
        )
        while rows := cursor.fetchmany(20_000):
            yield from rows


def _marked(*states: FieldTag.State, bits: dict[int, int]) -> dict[int, int]:
    """The columns of the graph whose fields have these tags in one of these states, with their marks."""
    rows = NodeColumn.objects.filter(
        field__field_tags__until__isnull=True,
        field__field_tags__state__in=states,
        field__field_tags__tag_id__in=bits,
    )
    found: dict[int, int] = defaultdict(int)
    for column, tag_id in rows.order_by("pk").values_list("pk", "field__field_tags__tag_id"):
        found[column] |= bits[tag_id]
    return dict(found)


def _claims(found: Spread, bits: dict[int, int]) -> list[tagging.Claim]:
    fields = _fields_of(found.came)
    types = _types_of(fields.values())
    ways = {
        (column, tag_id): found.way(column, bit)
        for column in sorted(fields)
        for tag_id, bit in bits.items()
        if reduce(lambda all_bits, one: all_bits | one[0], found.came[column], 0) & bit
    }
    labels = _labels({column for way in ways.values() for column in _told(way)})
    shortest: dict[tuple[int, int], list[int]] = {}
    for (column, tag_id), way in ways.items():
        place = (fields[column], tag_id)
        if place not in shortest or len(way) < len(shortest[place]):
            shortest[place] = way
    return [
        tagging.Claim(
            field_id=field_id,
            tag_id=tag_id,
            rule=RULE,
            rule_version=VERSION,
            evidence=_words(labels.get(way[0], "a column"), len(way) - 1),
            native_type=types.get(field_id, ""),
            confidence=round(max(LEAST, NEAREST - A_HOP * (len(way) - 2)), 2),
            path=tuple(labels.get(column, "…") for column in _told(way)),
        )
        for (field_id, tag_id), way in shortest.items()
    ]


def _told(way: list[int]) -> list[int]:
    return way if len(way) <= LONGEST else [*way[: LONGEST // 2], *way[-LONGEST // 2 :]]


def _words(source: str, hops: int) -> str:
    return (
        f"Its values come from {source}, which carries this tag ({hops} {'step' if hops == 1 else 'steps'})."
    )


def _fields_of(columns: Collection[int]) -> dict[int, int]:
    """The fields that are there of some columns, by column."""
    found: dict[int, int] = {}
    for some in _chunks(columns):
        rows = NodeColumn.objects.filter(
            pk__in=some, field__retired_at__isnull=True, field__dataset__deleted_at__isnull=True
        ).exclude(field__dataset__status=Dataset.Status.RETIRED)
        found.update((pk, field) for pk, field in rows.values_list("pk", "field_id") if field is not None)
    return found


def _types_of(fields: Iterable[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for some in _chunks(set(fields)):
        rows = FieldBinding.objects.filter(
            field_id__in=some, dataset_schema_id=F("field__dataset__current_schema_id")
        )
        found.update(rows.values_list("field_id", "native_type"))
    return found


def _labels(columns: Collection[int]) -> dict[int, str]:
    """How a way names its columns: by the registry's dataset where it is known, else as pipelines do."""
    found: dict[int, str] = {}
    names = ("pk", "path", "node__name", "node__dataset__name", "node__dataset__system__code")
    for some in _chunks(columns):
        for pk, path, name, dataset, system in NodeColumn.objects.filter(pk__in=some).values_list(*names):
            found[pk] = f"{system}/{dataset}.{path}" if dataset else f"{name}.{path}"
    return found


def _chunks(ids: Collection[int]) -> Iterator[list[int]]:
    listed = sorted(ids)
    for start in range(0, len(listed), _CHUNK):
        yield listed[start : start + _CHUNK]
