"""Checking the whole audit log: every edit and deletion that went past the product is found here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models import Exists, Max, OuterRef

from aide.audit.chain import is_beginning, link, seal
from aide.audit.marks import CONTENT, checker, is_anchor, is_marked, is_signed, sign
from aide.audit.models import AuditEntry, ChainAnchor, ChainHead, PendingEntry
from aide.audit.rows import SealedRow, sealed_rows

AT_ONCE = 2_000


@dataclass(frozen=True)
class Verdict:
    """The answer of verify(): whole chain good or not, rows sealed, rows not yet sealed, first bad row."""

    ok: bool
    sealed: int
    unsealed: int
    first_bad_id: int | None


def verify() -> Verdict:
    """Recompute the chain and compare it with rows, anchors and the signed head, and the rest with what is pending.

    `first_bad_id` is the first row that is not as it was written or not where it was, or that was deleted before it
    was sealed; None where rows are missing at the end, or head or anchors are not ours. Memory stays constant.
    """
    try:
        return _verified()
    except (AttributeError, TypeError, ValueError):
        # SQLite keeps any text in any column; what cannot even be read was not written by the product.
        return Verdict(ok=False, sealed=_count(), unsealed=_unsealed(), first_bad_id=_unreadable())


def _verified() -> Verdict:
    seal()
    head = ChainHead.objects.filter(pk=1).first()
    if head is None:
        head = ChainHead(count=0, hash="", signature=sign(0, "") if is_beginning() else "")
    whole, bad = _walk(head)
    whole = whole and is_signed(head.count, head.hash, head.signature) and not _set_back()
    if bad is None:
        bad = _beyond_the_head() or _unmarked_among_unsealed() or _gone_or_unannounced()
    return Verdict(
        ok=bad is None and whole,
        sealed=head.count,
        unsealed=_unsealed(),
        first_bad_id=bad,
    )


def _unsealed() -> int:
    return AuditEntry.objects.filter(place__isnull=True).count()


def _unreadable() -> int | None:
    """The first row of which some value cannot be read as what its column holds."""
    for pk in AuditEntry.objects.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=AT_ONCE):
        try:
            is_marked(AuditEntry.objects.values("mark", "place", *CONTENT).get(pk=pk))
        except (AttributeError, TypeError, ValueError):
            return int(pk)
    return None


def _walk(head: ChainHead) -> tuple[bool, int | None]:
    """Whether rows and anchors lead to this head, and the first row that is not as it was written or not where."""
    place, digest, holds = 0, "", checker()
    anchors = _anchors(head)
    anchor = next(anchors, None)
    for row in sealed_rows(head.count):
        place += 1
        digest = link(digest, place=place, entry_id=row.id, text=row.text)
        if row.place != place or row.digest != digest or not (holds(row.text, row.mark) or _is_marked(row)):
            return False, row.id
        if anchor is not None and anchor[0] == place:
            if anchor[1] != digest:
                return False, None
            anchor = next(anchors, None)
    return place == head.count and digest == head.hash and anchor is None, None


def _anchors(head: ChainHead) -> Iterator[tuple[int, str]]:
    """Count and hash of each anchor up to the head; one that is missing or not ours has a place that no row has."""
    rows = ChainAnchor.objects.filter(count__lte=head.count).order_by("number")
    values = rows.values_list("number", "count", "hash", "signature")
    for expected, (number, count, digest, signature) in enumerate(values.iterator(chunk_size=AT_ONCE), 1):
        ours = number == expected and is_anchor(number, count, digest, signature)
        yield (count, digest) if ours else (0, "")


def _is_marked(row: SealedRow) -> bool:
    """Whether a row has its mark although the chain's text is not what was marked.

    That is so where a number in it is one that databases spell differently.
    """
    found = AuditEntry.objects.filter(pk=row.id).values("mark", *CONTENT).first()
    return found is not None and is_marked(found)


def _set_back() -> bool:
    """Whether an anchor says that the chain was longer than its head does."""
    last = ChainAnchor.objects.aggregate(last=Max("count"))["last"] or 0
    return last > _count()  # the head is read later, so that what is being sealed now counts


def _count() -> int:
    return ChainHead.objects.filter(pk=1).values_list("count", flat=True).first() or 0


def _beyond_the_head() -> int | None:
    """The first row with a place that the head does not know of."""
    last = AuditEntry.objects.aggregate(last=Max("place"))["last"] or 0
    count = _count()
    if last <= count:
        return None
    return AuditEntry.objects.filter(place__gt=count).order_by("place").values_list("id", flat=True).first()


def _unmarked_among_unsealed() -> int | None:
    rows = AuditEntry.objects.filter(place__isnull=True).order_by("id").values("id", "mark", *CONTENT)
    return next((row["id"] for row in rows.iterator(chunk_size=AT_ONCE) if not is_marked(row)), None)


def _gone_or_unannounced() -> int | None:
    """The first row that was deleted before it was sealed, or that waits without having been announced.

    The database announces each new row by itself (`aide.audit.guard`); other databases have no such guard.
    """
    if connection.vendor not in ("postgresql", "sqlite"):
        return None
    there = AuditEntry.objects.filter(pk=OuterRef("pk"))
    gone = PendingEntry.objects.filter(~Exists(there)).order_by("pk").values_list("pk", flat=True).first()
    if gone is not None:
        return int(gone)
    announced = PendingEntry.objects.filter(pk=OuterRef("pk"))
    unsealed = AuditEntry.objects.filter(~Exists(announced), place__isnull=True).order_by("pk")
    return unsealed.values_list("pk", flat=True).first()
