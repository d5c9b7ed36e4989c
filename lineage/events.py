"""Recording metadata events, each once, together with its message for Kafka. The only writer of Event."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from lineage import metadata, outbox, waking
from lineage.metadata import MetadataEvent, RefusedError
from lineage.models import Event

STORED, DUPLICATE, REFUSED = "stored", "duplicate", "refused"
_DEADLOCK = "40P01"
_TRIES = 3

_EVENT_COLUMNS = "event_id, resource, subject, action, happened_at, additional_values, received_at"
_MESSAGE_COLUMNS = outbox.COLUMNS

_ONE = f"""
WITH fresh AS (
    INSERT INTO lineage_event ({_EVENT_COLUMNS})
    VALUES (%(event_id)s, %(resource)s, %(subject)s, %(action)s, %(at)s, %(values)s, %(now)s)
    ON CONFLICT (event_id) DO NOTHING RETURNING event_id, id
), promised AS (
    INSERT INTO lineage_outboxmessage ({_MESSAGE_COLUMNS})
    SELECT 'metadata', %(topic)s, %(resource)s, %(shard)s, %(event_id)s, %(payload)s, 'pending', 0, '', '', %(now)s
    FROM fresh
)
SELECT event_id, id FROM fresh
"""  # noqa: S608 (columns of ours)

_MANY = f"""
WITH came AS (
    SELECT place, told.event_id, told.resource, told.subject, told.action,
        to_timestamp(told."timestamp") AS happened_at, told."additionalValues" AS additional_values,
        one::text AS payload, (%(shards)s::smallint[])[place] AS shard
    FROM json_array_elements(%(payloads)s::json) WITH ORDINALITY AS each (one, place),
        LATERAL json_to_record(one) AS told (event_id text, resource text, subject text, action text,
            "timestamp" double precision, "additionalValues" jsonb)
), fresh AS (
    INSERT INTO lineage_event ({_EVENT_COLUMNS})
    SELECT event_id, resource, subject, action, happened_at, additional_values, %(now)s FROM came ORDER BY place
    ON CONFLICT (event_id) DO NOTHING RETURNING event_id, id
), promised AS (
    INSERT INTO lineage_outboxmessage ({_MESSAGE_COLUMNS})
    SELECT 'metadata', %(topic)s, resource, shard, event_id, payload, 'pending', 0, '', '', %(now)s
    FROM came JOIN fresh USING (event_id) ORDER BY place
)
SELECT event_id, id FROM fresh
"""  # noqa: S608 (columns of ours)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one event: stored (with its new row's id), duplicate, or refused with a reason."""

    event_id: str | None
    status: str
    reason: str = ""
    row_id: int | None = None


def accept(values: Sequence[Any], *, ids: Sequence[str | None] | None = None) -> list[Answer]:
    """Record the JSON values that are events; the others are refused one by one. Answers in the given order.

    `ids` are the event ids of those that bring none of their own.
    """
    now = timezone.now()
    answers: list[Answer | None] = []
    events: list[MetadataEvent] = []
    for place, value in enumerate(values):
        try:
            events.append(metadata.read(value, now=now, event_id=ids[place] if ids else None))
            answers.append(None)
        except RefusedError as refusal:
            answers.append(Answer(_id_of(value), REFUSED, str(refusal)))
    recorded = iter(record(events, now=now))
    return [next(recorded) if answer is None else answer for answer in answers]


def record(events: Sequence[MetadataEvent], *, now: dt.datetime | None = None) -> list[Answer]:
    """Store events that are new, each with its message, all or none; answers in the given order.

    An event whose id is known, or that comes twice here, is a duplicate: what was stored first stays.
    """
    if not events:
        return []
    first: dict[str, MetadataEvent] = {}
    for event in events:
        first.setdefault(event.event_id, event)
    write = _write_postgresql if connection.vendor == "postgresql" else _write_sqlite
    stored = write(list(first.values()), now or timezone.now())
    if stored:
        waking.after_commit()
    answers = []
    for event in events:
        number = stored.pop(event.event_id, None)
        answers.append(Answer(event.event_id, DUPLICATE if number is None else STORED, row_id=number))
    return answers


def record_one(event: MetadataEvent, *, now: dt.datetime) -> dict[str, Any]:
    """Store one event and give it as the wire has it; a repetition gives what was stored the first time."""
    number = record([event], now=now)[0].row_id
    if number is not None:
        return {"id": number, **metadata.write(event), "received_at": stamp(now)}
    return wire(Event.objects.get(event_id=event.event_id))


def wire(row: Event) -> dict[str, Any]:
    """A stored event as the wire has it."""
    return {
        "id": row.pk,
        "resource": row.resource,
        "subject": row.subject,
        "action": row.action,
        "timestamp": metadata.to_seconds(row.happened_at),
        "additionalValues": row.additional_values,
        "event_id": row.event_id,
        "received_at": stamp(row.received_at),
    }


def stamp(moment: dt.datetime) -> str:
    """A time in ISO 8601, UTC, as the API writes it."""
    return moment.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def _id_of(value: Any) -> str | None:
    found = value.get("event_id") if isinstance(value, dict) else None
    return found[: metadata.MAX_EVENT_ID] if isinstance(found, str) and found.isprintable() else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_postgresql(events: list[MetadataEvent], now: dt.datetime) -> dict[str, int]:
    """One statement, so that it needs no transaction of its own; it is quicker than COPY to a table and INSERT.

    Batches that hold the same ids in another order may wait for each other in a ring; one of them is tried again.
    """
    topic = outbox.topic_of(outbox.Kind.METADATA)
    statement, values = _one(events[0], now, topic) if len(events) == 1 else _many(events, now, topic)
    for tries_left in reversed(range(_TRIES)):
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                return dict(cursor.fetchall())
        except OperationalError as error:
            deadlock = getattr(error.__cause__, "sqlstate", "") == _DEADLOCK
            if not deadlock or not tries_left or connection.in_atomic_block:
                raise
    return {}


def _one(event: MetadataEvent, now: dt.datetime, topic: str) -> tuple[str, dict[str, Any]]:
    return _ONE, {
        "event_id": event.event_id,
        "resource": event.resource,
        "subject": event.subject,
        "action": event.action,
        "at": event.happened_at,
        "values": _json(event.additional_values),
        "now": now,
        "topic": topic,
        "shard": outbox.shard_of(event.resource),
        "payload": _json(metadata.write(event)),
    }


def _many(events: list[MetadataEvent], now: dt.datetime, topic: str) -> tuple[str, dict[str, Any]]:
    return _MANY, {
        "payloads": _json([metadata.write(event) for event in events]),
        "shards": [outbox.shard_of(event.resource) for event in events],
        "now": now,
        "topic": topic,
    }


def _write_sqlite(events: list[MetadataEvent], now: dt.datetime) -> dict[str, int]:
    """The same in a transaction, which locks out every other writer before it reads what is known."""
    topic = outbox.topic_of(outbox.Kind.METADATA)
    adapt = connection.ops.adapt_datetimefield_value
    at = adapt(now)
    with transaction.atomic(), connection.cursor() as cursor:
        known = _ids_of(cursor, events)
        new = [event for event in events if event.event_id not in known]
        cursor.executemany(
            f"INSERT OR IGNORE INTO lineage_event ({_EVENT_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)",  # noqa: S608
            [
                (
                    *(event.event_id, event.resource, event.subject, event.action),
                    *(adapt(event.happened_at), _json(event.additional_values), at),
                )
                for event in new
            ],
        )
        cursor.executemany(
            f"INSERT INTO lineage_outboxmessage ({_MESSAGE_COLUMNS})"  # noqa: S608
            " VALUES ('metadata', %s, %s, %s, %s, %s, 'pending', 0, '', '', %s)",
            [
                (
                    *(topic, event.resource, outbox.shard_of(event.resource), event.event_id),
                    *(_json(metadata.write(event)), at),
                )
                for event in new
            ],
        )
        return _ids_of(cursor, new)


def _ids_of(cursor: Any, events: list[MetadataEvent]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(events), 500):
        part = [event.event_id for event in events[start : start + 500]]
        marks = ", ".join(["%s"] * len(part))
        cursor.execute(f"SELECT event_id, id FROM lineage_event WHERE event_id IN ({marks})", part)  # noqa: S608
        found.update(cursor.fetchall())
    return found
