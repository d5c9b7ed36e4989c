"""Receiving events: each is kept as it came, promised to Kafka, and merged; a repetition changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from aide.core import bulk
from aide.work.queue import enqueue
from lineage import outbox
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
            with transaction.atomic():
                return _store_once(fresh, announce=announce)
        except OperationalError as error:
            again = getattr(error.__cause__, "sqlstate", "") in _AGAIN
            if not again or attempt == _TRIES - 1 or transaction.get_connection().in_atomic_block:
                raise
    raise AssertionError("unreachable")


def _store_once(fresh: list[_Read], *, announce: bool) -> tuple[set[str], bool]:
    new = _keep([_row(each) for each in fresh])
    listed = [each for each in fresh if each.digest in new]
    if not listed:
        return new, True
    if announce:
        outbox.put(
            [
                outbox.Message(
                    kind=OutboxMessage.Kind.LINEAGE,
                    key=_short(message_key(each.event)),
                    event_id=each.digest,
                    payload=each.text,
                )
                for each in listed
            ]
        )
    try:
        with transaction.atomic():
            merge([each.event for each in listed])
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") in _AGAIN:
            raise
        _keep_failed(new, error)
        return new, False
    except Exception as error:  # noqa: BLE001 (kept on the rows; the events themselves must not be lost)
        _keep_failed(new, error)
        return new, False
    return new, True


def _keep(rows: list[dict[str, Any]]) -> set[str]:
    """Write the events that are not there; the digests of those. COPY, unless somebody else writes one of them."""
    if connection.vendor == "postgresql" and len(rows) >= bulk.FEW:
        digests = LineageEvent.objects.filter(digest__in=[row["digest"] for row in rows])
        known = set(digests.values_list("digest", flat=True))
        listed = [row for row in rows if row["digest"] not in known]
        try:
            with transaction.atomic():
                bulk.insert_values(LineageEvent, list(rows[0]), [tuple(row.values()) for row in listed])
        except IntegrityError:
            return set(inserted(LineageEvent, rows, unique="digest"))
        return {row["digest"] for row in listed}
    return set(inserted(LineageEvent, rows, unique="digest"))


def _keep_failed(digests: set[str], error: Exception) -> None:
    log.warning("lineage.not_merged", events=len(digests), error=type(error).__name__)
    rows = LineageEvent.objects.filter(digest__in=digests)
    rows.update(state=LineageEvent.State.FAILED, error=type(error).__name__)
    enqueue("lineage.merge_again", key="lineage.merge_again", delay_seconds=1)


def _row(each: _Read) -> dict[str, Any]:
    event = each.event
    job = event.job
    return {
        "digest": each.digest,
        "kind": event.kind,
        "event_type": event.event_type,
        "event_time": event.event_time,
        "run_id": event.run_id,
        "job_key": key_of(*job) if job else "",
        "job_namespace": job.namespace if job else "",
        "job_name": job.name if job else "",
        "producer": event.producer,
        "body": each.text,
        "oddities": list(event.oddities),
        "state": LineageEvent.State.MERGED,
        "error": "",
        "received_at": timezone.now(),
    }


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
