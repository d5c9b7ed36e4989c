"""The hash chain: sealing in batches, and finding every later edit or deletion."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from aide.audit.models import AuditEntry, ChainHead

BATCH = 500

CONTENT = (
    "at", "actor_id", "actor_name", "actor_roles", "via", "action", "object_type", "object_id", "object_name",
    "system_code", "dataset_id", "risk", "touches_pii", "before", "after", "reason", "batch", "request_id",
    "ip", "user_agent",
)  # fmt: skip


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


def content_of(row: dict) -> dict:
    """A row's content in a form that reads back the same from every database."""
    content = {name: row[name] for name in CONTENT}
    content["at"] = row["at"].astimezone(UTC).isoformat(timespec="microseconds")
    return content


def sign(count: int, digest: str) -> str:
    """The head's signature, made with the installation's secret key."""
    key = hashlib.sha256(b"aide.audit.head" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, f"{count}:{digest}".encode(), hashlib.sha256).hexdigest()


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
        head, _ = ChainHead.objects.select_for_update().get_or_create(
            pk=1, defaults={"signature": sign(0, "")}
        )
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
            sealed.append(AuditEntry(id=row["id"], place=count, hash=digest))
        AuditEntry.objects.bulk_update(sealed, ["place", "hash"], batch_size=BATCH)
        head.count, head.hash, head.signature = count, digest, sign(count, digest)
        head.sealed_at = timezone.now()
        head.save()
        return len(rows)


def verify() -> Verdict:
    """Recompute the whole chain and compare it with the rows and with the signed head."""
    seal()
    head = ChainHead.objects.filter(pk=1).first() or ChainHead(count=0, hash="", signature=sign(0, ""))
    place, digest, bad = 0, "", None
    for row in _sealed_rows():
        place += 1
        expected = link(digest, place=place, entry_id=row["id"], content=content_of(row))
        if row["place"] != place or row["hash"] != expected:
            bad = row["id"]
            break
        digest = expected
    signed = hmac.compare_digest(head.signature, sign(head.count, head.hash))
    whole = place == head.count and digest == head.hash
    unsealed = AuditEntry.objects.filter(place__isnull=True).count()
    return Verdict(
        ok=bad is None and whole and signed, sealed=head.count, unsealed=unsealed, first_bad_id=bad
    )


def _sealed_rows() -> Iterator[dict]:
    rows = AuditEntry.objects.filter(place__isnull=False).order_by("place")
    yield from rows.values("id", "place", "hash", *CONTENT).iterator(chunk_size=2000)
