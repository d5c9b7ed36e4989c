"""The hash chain: sealing in batches, and finding every later edit or deletion."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from aide.audit.marks import CONTENT, content_of, is_marked, is_signed, sign
from aide.audit.models import AuditEntry, ChainHead

logger = structlog.get_logger(__name__)

BATCH = 500


@dataclass(frozen=True)
class Verdict:
    """The answer of verify(): whole chain good or not, rows sealed, rows not yet sealed, first bad row."""

    ok: bool
    sealed: int
    unsealed: int
    first_bad_id: int | None


def link(previous: str, *, place: int, entry_id: int, content: dict) -> str:
    """The hash of a row: over the hash before it, its place, its id and its content."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(f"{previous}\n{place}\n{entry_id}\n{text}".encode()).hexdigest()


def seal(*, limit: int = 20_000) -> int:
    """Put unsealed rows into the chain, in batches of a short transaction each. Returns how many."""
    total = 0
    while total < limit:
        done = _seal_batch()
        total += done
        if done < BATCH:
            break
    return total


def _seal_batch() -> int:
    with transaction.atomic():
        head = _locked_head()
        if head is None or not _may_follow(head):
            return 0
        rows = list(
            AuditEntry.objects.filter(place__isnull=True).order_by("id").values("id", *CONTENT)[:BATCH]
        )
        if not rows:
            return 0
        count, digest = head.count, head.hash
        sealed = []
        for row in rows:
            count += 1
            digest = link(digest, place=count, entry_id=row["id"], content=content_of(row))
            sealed.append((count, digest, row["id"]))
        with connection.cursor() as cursor:  # many times faster than one statement with a case for each row
            cursor.executemany("UPDATE audit_auditentry SET place = %s, hash = %s WHERE id = %s", sealed)
        head.count, head.hash, head.signature = count, digest, sign(count, digest)
        head.sealed_at = timezone.now()
        head.save()
        return len(rows)


def _may_follow(head: ChainHead) -> bool:
    """Whether the chain can go on after this head: it is ours, and no row has a place after it.

    Where not, sealing stops, so that it neither fails on a taken place nor signs what someone else wrote.
    """
    ours = is_signed(head.count, head.hash, head.signature)
    if ours and not AuditEntry.objects.filter(place__gt=head.count).exists():
        return True
    logger.error("audit chain head was changed; nothing is sealed", count=head.count, signed=ours)
    return False


def _locked_head() -> ChainHead | None:
    """The head, made if this is the beginning; None when rows are sealed and their head is gone."""
    head = ChainHead.objects.select_for_update().filter(pk=1).first()
    if head is None and not AuditEntry.objects.filter(place__isnull=False).exists():
        new = {"signature": sign(0, "")}
        head, _ = ChainHead.objects.select_for_update().get_or_create(pk=1, defaults=new)
    return head


def verify() -> Verdict:
    """Recompute the whole chain and compare it with the rows, their marks and the signed head.

    `first_bad_id` is the first row that is not as it was written or not where it was; None where rows are missing
    at the end, or the head itself is not ours. A row deleted before it was sealed leaves no trace.
    """
    seal()
    head = _head()
    place, digest, bad = 0, "", None
    for row in _rows(AuditEntry.objects.filter(place__lte=head.count).order_by("place")):
        place += 1
        expected = link(digest, place=place, entry_id=row["id"], content=content_of(row))
        if row["place"] != place or row["hash"] != expected or not is_marked(row):
            bad = row["id"]
            break
        digest = expected
    whole = place == head.count and digest == head.hash
    if bad is None:
        bad = _beyond_the_head() or _unmarked_among_unsealed()
    return Verdict(
        ok=bad is None and whole and is_signed(head.count, head.hash, head.signature),
        sealed=head.count,
        unsealed=AuditEntry.objects.filter(place__isnull=True).count(),
        first_bad_id=bad,
    )


def _head() -> ChainHead:
    return ChainHead.objects.filter(pk=1).first() or ChainHead(count=0, hash="", signature=sign(0, ""))


def _beyond_the_head() -> int | None:
    """The first row with a place that the head does not know of."""
    last = AuditEntry.objects.aggregate(last=Max("place"))["last"] or 0
    count = _head().count  # read after the rows, so that what is being sealed now counts
    if last <= count:
        return None
    return AuditEntry.objects.filter(place__gt=count).order_by("place").values_list("id", flat=True).first()


def _unmarked_among_unsealed() -> int | None:
    rows = _rows(AuditEntry.objects.filter(place__isnull=True).order_by("id"))
    return next((row["id"] for row in rows if not is_marked(row)), None)


def _rows(entries: QuerySet[AuditEntry]) -> Iterator[dict]:
    yield from entries.values("id", "place", "hash", "mark", *CONTENT).iterator(chunk_size=2000)
