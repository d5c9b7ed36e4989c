"""Receiving events: each is kept as it came, promised to Kafka, and merged; a repetition changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import structlog
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from aide.work.queue import enqueue
from lineage import outbox, waking
from lineage.merging.merge import merge
from lineage.merging.nodes import key_of
from lineage.merging.upserts import inserted
from lineage.models import LineageEvent, OutboxMessage
from lineage.openlineage import (
    OpenLineageEvent,
    RefusedEventError,
    digest_of,
    masked,
    message_key,
    read,
)
from lineage.openlineage.secrets import may_hold_secrets

log = structlog.get_logger(__name__)

STORED, DUPLICATE, REFUSED = "stored", "duplicate", "refused"
LONGEST_KEY = 1_000
_TRIES = 3
_AGAIN = frozenset({"40001", "40P01"})
"""PostgreSQL's words for "try the same again": serialization failure, deadlock."""


@dataclass(frozen=True)
class Incoming:
    """A JSON value and the text it was read from, or what was wrong with that text."""

    value: Any = None
    text: str = ""
    wrong: str = ""


@dataclass(frozen=True)
class Receipt:
    """The answer for one event. `warnings` are its oddities; `merged` is False where the graph will follow later."""

    status: str
    reason: str = ""
    warnings: tuple[str, ...] = ()
    digest: str = ""
    merged: bool = True


@dataclass(frozen=True)
class _Read:
    event: OpenLineageEvent
    digest: str
    text: str


def receive(items: Sequence[Incoming], *, announce: bool = True) -> list[Receipt]:
    """Store, announce and merge events; one answer each, in their order. All that is stored is stored at once.

    Takes a constant number of statements for a batch. Without `announce` nothing goes to the outbox (for events
    that came from Kafka).
    """
    found: list[_Read | Receipt] = [_look(item) for item in items]
    fresh = list({each.digest: each for each in reversed(found) if isinstance(each, _Read)}.values())[::-1]
    new, merged = _store(fresh, announce=announce) if fresh else (set(), True)
    answers: list[Receipt] = []
    told: set[str] = set()
    for each in found:
        if isinstance(each, Receipt):
            answers.append(each)
            continue
        is_new = each.digest in new and each.digest not in told
        told.add(each.digest)
        status = STORED if is_new else DUPLICATE
        answers.append(Receipt(status, "", each.event.oddities, each.digest, merged or not is_new))
    return answers


def _look(item: Incoming) -> _Read | Receipt:
    if item.wrong:
        return Receipt(REFUSED, item.wrong)
    value, text = item.value, item.text
    if may_hold_secrets(text):
        clean = masked(value)
        if clean is not value:
            value, text = clean, json.dumps(clean, ensure_ascii=False)
    try:
        event = read(value)
    except RefusedEventError as error:
        return Receipt(REFUSED, str(error))
    return _Read(event, digest_of(value), text)


def _store(fresh: list[_Read], *, announce: bool) -> tuple[set[str], bool]:
    """(digests that are new, whether they are in the graph)."""
    for attempt in range(_TRIES):
        try:
            return _store_once(fresh, announce=announce)
        except OperationalError as error:
            again = getattr(error.__cause__, "sqlstate", "") in _AGAIN
            if not again or attempt == _TRIES - 1 or transaction.get_connection().in_atomic_block:
                raise
    raise AssertionError("unreachable")


def _store_once(fresh: list[_Read], *, announce: bool) -> tuple[set[str], bool]:
    try:
        with transaction.atomic():
            new = _keep(fresh, announce=announce)
            merge([each.event for each in fresh if each.digest in new])
            return new, True
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") in _AGAIN:
            raise
        failure = type(error).__name__
    except Exception as error:  # noqa: BLE001 (kept on the rows; the events themselves must not be lost)
        failure = type(error).__name__
    with transaction.atomic():
        new = _keep(fresh, announce=announce, error=failure)
        if new:
            log.warning("lineage.not_merged", events=len(new), error=failure)
            enqueue("lineage.merge_again", key="lineage.merge_again", delay_seconds=1)
    return new, False


_EVENT = (
    *("digest", "kind", "event_type", "event_time", "run_id", "job_key", "job_namespace", "job_name"),
    *("producer", "body", "oddities", "state", "error", "received_at"),
)
_CAME = (
    "place int, digest text, kind text, event_type text, event_time timestamptz, run_id text, job_key text,"
    " job_namespace text, job_name text, producer text, body text, oddities jsonb, state text, error text,"
    " received_at timestamptz, key text, shard smallint"
)
_FRESH = f"""
WITH came AS MATERIALIZED (SELECT * FROM json_to_recordset(%s::json) AS x({_CAME})), fresh AS (
    INSERT INTO lineage_lineageevent ({", ".join(_EVENT)})
    SELECT {", ".join(_EVENT)} FROM came ORDER BY place ON CONFLICT (digest) DO NOTHING RETURNING digest
)"""  # noqa: S608 (columns of ours)
_KEEP = f"{_FRESH} SELECT digest FROM fresh"  # noqa: S608
_KEEP_AND_PROMISE = f"""{_FRESH}, promised AS (
    INSERT INTO lineage_outboxmessage ({outbox.COLUMNS})
    SELECT 'lineage', %s, key, shard, digest, body, 'pending', 0, '', '', received_at
    FROM came JOIN fresh USING (digest) ORDER BY place
) SELECT digest FROM fresh"""  # noqa: S608 (columns of ours)


def _keep(fresh: list[_Read], *, announce: bool, error: str = "") -> set[str]:
    """Write the events that are not there, each with its message; the digests of those."""
    now = timezone.now()
    rows = [_row(each, now, error) for each in fresh]
    if connection.vendor == "postgresql":
        return _keep_together(fresh, rows, announce=announce)
    new = {digest for _, digest in inserted(LineageEvent, _EVENT, rows, unique="digest")}
    if announce:
        outbox.put(
            [
                outbox.Message(OutboxMessage.Kind.LINEAGE, _key_of(each), each.digest, each.text)
                for each in fresh
                if each.digest in new
            ]
        )
    return new


def _keep_together(fresh: list[_Read], rows: list[tuple[Any, ...]], *, announce: bool) -> set[str]:
    """One statement, in which each text travels once."""
    listed = []
    for place, (each, row) in enumerate(zip(fresh, rows, strict=True)):
        values = dict(zip(_EVENT, row, strict=True))
        key = _key_of(each)
        listed.append({"place": place, **values, "key": key, "shard": outbox.shard_of(key)})
    document = msgspec.json.encode(listed).decode()
    with connection.cursor() as cursor:
        if announce:
            cursor.execute(_KEEP_AND_PROMISE, [document, outbox.topic_of(OutboxMessage.Kind.LINEAGE)])
        else:
            cursor.execute(_KEEP, [document])
        new = {digest for (digest,) in cursor.fetchall()}
    if announce and new:
        waking.after_commit()
    return new


def _row(each: _Read, now: datetime, error: str) -> tuple[Any, ...]:
    event = each.event
    job = event.job or ("", "")
    state = LineageEvent.State.FAILED if error else LineageEvent.State.MERGED
    return (
        *(each.digest, event.kind, event.event_type, event.event_time, event.run_id),
        *(key_of(*job) if event.job else "", *job, event.producer, each.text, list(event.oddities)),
        *(state.value, error, now),
    )


def _key_of(each: _Read) -> str:
    return _short(message_key(each.event))


def _short(key: str) -> str:
    return key if len(key) <= LONGEST_KEY else f"{key[: LONGEST_KEY - 65]}#{key_of(key, '')}"


def merge_again(*, size: int = 100) -> int:
    """Bring kept events into the graph that were not merged; how many are left that cannot be. For the task."""
    left = 0
    after = 0
    while True:
        rows = list(
            LineageEvent.objects.filter(state=LineageEvent.State.FAILED, pk__gt=after).order_by("pk")[:size]
        )
        if not rows:
            return left
        after = rows[-1].pk
        if _merged(rows):
            continue
        left += sum(not _merged([row]) for row in rows)


def _merged(rows: list[LineageEvent]) -> bool:
    try:
        with transaction.atomic():
            merge([read(json.loads(row.body)) for row in rows])
            LineageEvent.objects.filter(pk__in=[row.pk for row in rows]).update(
                state=LineageEvent.State.MERGED, error=""
            )
    except OperationalError:
        raise  # the database is busy or away; the task is tried again
    except Exception as error:  # noqa: BLE001 (stored on the row, where people see it)
        LineageEvent.objects.filter(pk__in=[row.pk for row in rows]).update(error=type(error).__name__)
        return False
    return True
