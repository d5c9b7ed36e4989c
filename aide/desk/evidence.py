"""The evidence pack: what a filter of the audit log finds, as files that an auditor can keep and check."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import IO, Any

from django.db.models import QuerySet
from django.utils import timezone

from aide.accounts.models import User
from aide.audit.checking import Verdict, verify
from aide.audit.entries import Entry, record
from aide.audit.models import AuditEntry, ChainHead
from aide.core.errors import Invalid
from aide.core.html import action_in_words
from aide.core.spreadsheets import harmless
from crawling.models import Decision
from registry.models import Dataset, DatasetSchema

MOST = 200_000
AT_ONCE = 500
IN_MEMORY = 8 * 1024 * 1024
COLUMNS = (
    "id", "at", "who", "roles", "via", "what", "action", "object", "object_type", "object_id", "system",
    "dataset_id", "risk", "personal_data", "before", "after", "reason", "first_person", "first_at",
    "second_person", "second_at", "batch", "address", "place_in_chain", "hash",
)  # fmt: skip


@dataclass
class Roles:
    """With which roles somebody acted, since when and until when."""

    first: datetime
    last: datetime
    count: int = 1


@dataclass
class Pack:
    """The finished file."""

    file: IO[bytes]
    name: str
    entries: int


@dataclass
class _Told:
    """What is gathered while the entries are written."""

    entries: int = 0
    people: set[int] = field(default_factory=set)
    roles: dict[tuple[str, str], Roles] = field(default_factory=dict)

    def add(self, entry: AuditEntry) -> None:
        self.entries += 1
        if entry.actor_id is not None:
            self.people.add(entry.actor_id)
        if not entry.actor_name:
            return
        known = self.roles.setdefault((entry.actor_name, entry.actor_roles), Roles(entry.at, entry.at, 0))
        known.first, known.last = min(known.first, entry.at), max(known.last, entry.at)
        known.count += 1


def build(
    entries: QuerySet[AuditEntry], *, words: str, query: str, dataset: Dataset | None, by: Any, sees_all: bool
) -> Pack:
    """The pack of these entries. That it was made is an entry of its own, the newest then.

    Raises VALIDATION_ERROR beyond 200,000 entries.
    """
    if entries.order_by()[: MOST + 1].count() > MOST:
        raise Invalid(detail=f"More than {MOST:,} entries match. Narrow the filter, by time for example.")
    now, verdict, told = timezone.now(), verify(), _Told()
    file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (the answer closes it)
    sums: dict[str, str] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _write_entries(archive, sums, entries, told, now)
        _add(archive, sums, "who-had-which-role.csv", _roles(told, sees_all=sees_all), now)
        if dataset is not None:
            _add(archive, sums, "versions.csv", _versions(dataset), now)
        filter_text = _filter_text(words, query, by=by, now=now, count=told.entries)
        _put(archive, sums, "filter.txt", filter_text.encode(), now)
        note = _note(verdict, sums, now=now)
        _put(archive, {}, "verification.txt", note.encode(), now)
    record(
        Entry(
            "audit.export", "audit", None, words or "the whole log",
            dataset_id=dataset.pk if dataset is not None else None,
            system_code=dataset.system.code if dataset is not None else "",
            after={"entries": told.entries, "query": query[:500], "sha256": sums, "chain_verified": verdict.ok},
        ),
        by=by,
    )  # fmt: skip
    file.seek(0)
    return Pack(file, f"evidence-{now:%Y-%m-%d-%H%M}.zip", told.entries)


def _write_entries(
    archive: zipfile.ZipFile, sums: dict[str, str], entries: QuerySet[AuditEntry], told: _Told, now: datetime
) -> None:
    """decisions.csv and, beside it, decisions.json, in one pass over the entries."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
        spool.write(b"[")

        def lines() -> Iterator[list[Any]]:
            yield list(COLUMNS)
            for values in _told_entries(entries, told):
                spool.write(b",\n" if told.entries > 1 else b"\n")
                spool.write(json.dumps(values, ensure_ascii=False, default=str).encode())
                yield [_cell(values[name]) for name in COLUMNS]

        _add(archive, sums, "decisions.csv", lines(), now)
        spool.write(b"\n]\n")
        spool.seek(0)
        digest = hashlib.sha256()
        with archive.open(_info("decisions.json", now), "w") as member:
            while chunk := spool.read(64 * 1024):
                digest.update(chunk)
                member.write(chunk)
        sums["decisions.json"] = digest.hexdigest()


def _told_entries(entries: QuerySet[AuditEntry], told: _Told) -> Iterator[dict[str, Any]]:
    rows = entries.iterator(chunk_size=AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        changes = [int(each.object_id) for each in some if _is_change(each)]
        people: dict[tuple[str, int], Decision] = {}
        for each in Decision.objects.filter(change__in=changes).select_related("person") if changes else ():
            people[str(each.change_id), each.order] = each
        for entry in some:
            told.add(entry)
            yield _values(entry, people if _is_change(entry) else {})


def _is_change(entry: AuditEntry) -> bool:
    return entry.object_type == "change" and entry.object_id.isascii() and entry.object_id.isdecimal()


def _values(entry: AuditEntry, decided: dict[tuple[str, int], Decision]) -> dict[str, Any]:
    first, second = decided.get((entry.object_id, 1)), decided.get((entry.object_id, 2))
    return {
        "id": entry.pk,
        "at": entry.at.isoformat(),
        "who": entry.actor_name or "AIDE",
        "roles": entry.actor_roles,
        "via": entry.via,
        "what": action_in_words(entry.action),
        "action": entry.action,
        "object": entry.object_name,
        "object_type": entry.object_type,
        "object_id": entry.object_id,
        "system": entry.system_code,
        "dataset_id": entry.dataset_id,
        "risk": entry.risk,
        "personal_data": entry.touches_pii,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
        "first_person": _person(first),
        "first_at": first.at.isoformat() if first else "",
        "second_person": _person(second),
        "second_at": second.at.isoformat() if second else "",
        "batch": entry.batch,
        "address": entry.ip,
        "place_in_chain": entry.place,
        "hash": entry.hash,
    }


def _person(decision: Decision | None) -> str:
    if decision is None:
        return ""
    return decision.person.get_username() if decision.person is not None else "the schedule"


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list):
        return harmless(json.dumps(value, ensure_ascii=False, sort_keys=True))
    return harmless(value)


def _roles(told: _Told, *, sees_all: bool) -> Iterator[list[Any]]:
    """Who acted with which roles, who has which now, and who changed them."""
    yield ["person", "roles", "from", "to", "how it is known", "entries"]
    for (name, roles), known in sorted(told.roles.items()):
        times = known.first.isoformat(), known.last.isoformat()
        yield [harmless(name), roles, *times, "acted with them", known.count]
    people = User.objects.filter(pk__in=told.people).prefetch_related("groups").order_by("email")
    for user in people:
        roles = ",".join(sorted(group.name for group in user.groups.all()))
        state = roles if user.is_active else f"{roles} (may not sign in any more)"
        yield [harmless(user.email), state, timezone.now().isoformat(), "", "has them now", ""]
    if sees_all:
        ids = [str(pk) for pk in told.people]
        for entry in AuditEntry.objects.filter(object_type="user", object_id__in=ids).order_by("pk"):
            groups = (entry.after or {}).get("groups") if isinstance(entry.after, dict) else None
            if groups is not None:
                said = ",".join(sorted(map(str, groups))) if isinstance(groups, list) else str(groups)
                by = f"given by {entry.actor_name or 'AIDE'}"
                yield [harmless(entry.object_name), said, entry.at.isoformat(), "", by, ""]


def _versions(dataset: Dataset) -> Iterator[list[Any]]:
    yield ["dataset", "version", "status", "published_at", "published_by", "origin", "fingerprint"]
    versions = DatasetSchema.objects.filter(dataset=dataset).select_related("published_by")
    for each in versions.order_by("version_num"):
        at = each.published_at.isoformat() if each.published_at else ""
        by = each.published_by.get_username() if each.published_by else ""
        yield [harmless(dataset.name), each.version_num, each.status, at, by, each.origin, each.fingerprint]


def _filter_text(words: str, query: str, *, by: Any, now: datetime, count: int) -> str:
    return (
        f"Entries of the audit log: {words or 'all'}\n"
        f"As an address: /admin/audit/auditentry/{'?' + query if query else ''}\n"
        f"Found: {count:,}, newest first\n"
        f"Made at {now.isoformat()} by {by.get_username()}\n"
    )


def _note(verdict: Verdict, sums: dict[str, str], *, now: datetime) -> str:
    head = ChainHead.objects.filter(pk=1).first()
    said = "Chain verified" if verdict.ok else "THE CHAIN DOES NOT HOLD"
    lines = [
        f"{said} at {now.isoformat()}: {verdict.sealed:,} entries are sealed, {verdict.unsealed:,} not yet.",
        "Every entry was read, its hash made again from its content and the entry before, and the end compared",
        "with the signed head. What was changed or deleted past the product would be found.",
    ]
    if verdict.first_bad_id is not None:
        lines.append(f"The first entry that is not as it was written: {verdict.first_bad_id}.")
    if head is not None:
        lines.append(f"Head of the chain: {head.count:,} entries, hash {head.hash or '(none yet)'}.")
    lines += [
        "",
        "SHA-256 of the files of this pack:",
        *(f"{digest}  {name}" for name, digest in sums.items()),
    ]
    return "\n".join(lines) + "\n"


def _add(
    archive: zipfile.ZipFile, sums: dict[str, str], name: str, lines: Iterable[list[Any]], now: datetime
) -> None:
    """A CSV file of these lines."""
    digest = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
        text = io.TextIOWrapper(spool, encoding="utf-8", newline="")
        csv.writer(text).writerows(lines)
        text.flush()
        spool.seek(0)
        while chunk := spool.read(64 * 1024):
            digest.update(chunk)
        spool.seek(0)
        with archive.open(_info(name, now), "w") as member:
            shutil.copyfileobj(spool, member)
        text.detach()
    sums[name] = digest.hexdigest()


def _put(archive: zipfile.ZipFile, sums: dict[str, str], name: str, content: bytes, now: datetime) -> None:
    archive.writestr(_info(name, now), content)
    sums[name] = hashlib.sha256(content).hexdigest()


def _info(name: str, now: datetime) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, now.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
