"""API keys: made with a secret that is shown once, found again by its hash, revoked at once."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from aide.accounts.models import ApiKey, User
from aide.audit.entries import Entry, record

PREFIX = "aide_"
_FORM = re.compile(r"^aide_([a-z0-9]{16})_([A-Za-z0-9_\-]{43})\Z")
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_SEEN_EVERY = dt.timedelta(minutes=1)
_NOTE_USE = {
    "postgresql": """
UPDATE accounts_apikey SET last_used_at = %s
WHERE id = (SELECT id FROM accounts_apikey WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED)
""",
    "sqlite": "UPDATE accounts_apikey SET last_used_at = %s WHERE id = %s",
}
logger = structlog.get_logger(__name__)


@transaction.atomic
def make_key(
    *,
    user: User,
    name: str,
    scopes: Iterable[str],
    system_codes: Iterable[str] = (),
    expires_at: dt.datetime | None = None,
    note: str = "",
    by: User | None = None,
) -> tuple[ApiKey, str]:
    """A new key of `user` and its whole secret, which cannot be had again."""
    public_id = "".join(secrets.choice(_ALPHABET) for _ in range(16))
    tail = secrets.token_urlsafe(32)
    secret = f"{PREFIX}{public_id}_{tail}"
    key = ApiKey(
        user=user,
        name=name,
        public_id=public_id,
        secret_hash=_hash(secret),
        last_four=secret[-4:],
        scopes=sorted(set(scopes)),
        system_codes=sorted(set(system_codes)),
        expires_at=expires_at,
        note=note,
    )
    key.save()
    after = {"user": user.email, "scopes": key.scopes, "systems": key.system_codes}
    record(_entry("key.create", key, after=after), by=by)
    return key, secret


def find_key(secret: str) -> ApiKey | None:
    """The usable key of an active user that this secret belongs to."""
    public_id = public_id_of(secret)
    if public_id is None:
        return None
    key = ApiKey.objects.select_related("user").filter(public_id=public_id).first()
    if key is None or not belongs(secret, key):
        return None
    return key if key.is_usable and key.user.is_active else None


def public_id_of(secret: str) -> str | None:
    """The part of a secret by which its key is found; None for what has not the form of a secret."""
    found = _FORM.match(secret)
    return found.group(1) if found else None


def belongs(secret: str, key: ApiKey) -> bool:
    """Whether the secret is this key's."""
    return hmac.compare_digest(key.secret_hash, _hash(secret))


def usable_key(public_id: str) -> ApiKey | None:
    """The usable key with this public id, for tokens that were made from it."""
    key = ApiKey.objects.select_related("user").filter(public_id=public_id).first()
    return key if key is not None and key.is_usable and key.user.is_active else None


def seen(key: ApiKey) -> None:
    """Remembers the use of a key, at most once a minute. No lock is waited for and no request fails by it."""
    now = timezone.now()
    if key.last_used_at is not None and key.last_used_at >= now - _SEEN_EVERY:
        return
    try:
        with _no_waiting(), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                _NOTE_USE[connection.vendor], [connection.ops.adapt_datetimefield_value(now), key.pk]
            )
    except DatabaseError as error:
        # The next use is remembered; a database that is read only or locked may still answer this request.
        logger.info("key_use_not_noted", key=key.pk, reason=type(error).__name__)


@contextmanager
def _no_waiting() -> Iterator[None]:
    """SQLite locks the whole file: what is written here is not worth a wait for it."""
    raw = connection.connection if connection.vendor == "sqlite" else None
    if raw is None:
        yield
        return
    patience = raw.execute("PRAGMA busy_timeout").fetchone()[0]
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        raw.execute(f"PRAGMA busy_timeout = {patience}")


@transaction.atomic
def revoke_key(key: ApiKey, *, by: User | None, reason: str = "") -> ApiKey:
    """Takes effect at once; revoking again changes nothing."""
    key = ApiKey.objects.select_for_update(of=("self",)).select_related("user").get(pk=key.pk)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.revoked_reason = reason[:500]
        key.row_version += 1
        key.save(update_fields=["revoked_at", "revoked_reason", "row_version", "updated_at"])
        record(_entry("key.revoke", key, reason=reason), by=by)
    return key


def _hash(secret: str) -> str:
    # The secret has 256 random bits: a plain hash cannot be guessed, and is fast enough for every request.
    return hashlib.sha256(secret.encode()).hexdigest()


def _entry(action: str, key: ApiKey, **values: Any) -> Entry:
    return Entry(action=action, object_type="api_key", object_id=key.pk, object_name=key.name, **values)
