"""A large audit log for tests and measurements: real marks and a real chain, written in one go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from aide.accounts.models import User
from aide.audit import chain
from aide.audit.marks import CONTENT, canonical, content_of, mark_of, sign
from aide.audit.models import AuditEntry, ChainHead
from aide.core import bulk

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
ACTIONS = (
    ("change.approve", "change"), ("field.update", "field"), ("dataset.publish", "dataset"),
    ("login.success", "user"), ("field.tag", "field"), ("system.update", "system"), ("crawl.start", "crawl_run"),
)  # fmt: skip
WORDS = ("customer", "order", "amount", "created", "email", "status", "parcel", "ledger", "tariff", "branch")
AT_ONCE = 20_000


def fill_audit(rows: int, *, by: User) -> None:
    """So many sealed rows after those that are there. Sealing what is there comes first."""
    chain.seal()
    head, _ = ChainHead.objects.get_or_create(pk=1, defaults={"signature": sign(0, "")})
    first = (AuditEntry.objects.aggregate(last=Max("pk"))["last"] or 0) + 1
    digest = head.hash
    for start in range(0, rows, AT_ONCE):
        batch = []
        for n in range(start, min(start + AT_ONCE, rows)):
            entry = AuditEntry(pk=first + n, **_values(n, by))
            row = {name: getattr(entry, name) for name in CONTENT}
            entry.mark, entry.place = mark_of(row), head.count + n + 1
            text = canonical(content_of(row))
            digest = chain.link(digest, place=entry.place, entry_id=entry.pk, text=text)
            entry.hash = digest
            batch.append(entry)
        with transaction.atomic():
            bulk.insert(batch)
    count = head.count + rows
    ChainHead.objects.filter(pk=1).update(
        count=count, hash=digest, signature=sign(count, digest), sealed_at=timezone.now()
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT setval('audit_auditentry_id_seq', %s)", [first + rows])
            cursor.execute("SELECT gin_clean_pending_list(to_regclass('audit_auditentry_search'))")
            cursor.execute("ANALYZE audit_auditentry")


def _values(n: int, by: User) -> dict[str, Any]:
    action, kind = ACTIONS[n % len(ACTIONS)]
    word = WORDS[n % len(WORDS)] + ("_xylophone" if n % 100_000 == 77_777 else "")
    return {
        "at": BEGINNING + timedelta(seconds=7 * n),
        "actor_id": by.pk if n % 3 else None,
        "actor_name": by.email if n % 3 else "",
        "actor_roles": "steward" if n % 3 else "",
        "via": ("ui", "api", "crawl")[n % 3],
        "action": action,
        "object_type": kind,
        "object_id": str(n),
        "object_name": f"public.table_{n // 20}.{word}_{n}",
        "system_code": f"large{n % 10}",
        "dataset_id": n // 20,
        "risk": ("", "safe", "risky", "breaking")[n % 4],
        "touches_pii": n % 50 == 0,
        "before": {"native_type": "varchar(20)", "description": ""} if n % 2 else None,
        "after": {"native_type": "varchar(40)", "description": f"What the {word} says"},
        "reason": f"Agreed with the {word} team" if n % 5 == 0 else "",
        "batch": f"{n // 37:032x}",
        "request_id": f"{n:032x}",
        "ip": "10.0.0.7",
        "user_agent": "Mozilla/5.0",
    }
