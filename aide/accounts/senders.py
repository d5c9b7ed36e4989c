"""Who sends events, found with one statement: the short way of `BearerAuthentication` for API keys.

Only faces that take many requests a second use it; it answers what the long way does.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from django.db import connection
from django.utils import timezone

from aide.accounts import keys
from aide.accounts.models import ApiKey, User

_FIND = """
SELECT k.id, k.secret_hash, k.scopes, k.system_codes, k.expires_at, k.revoked_at, k.last_used_at,
    u.id, u.email, u.is_active, g.name
FROM accounts_apikey k JOIN accounts_user u ON u.id = k.user_id
    LEFT JOIN accounts_user_groups m ON m.user_id = u.id LEFT JOIN auth_group g ON g.id = m.group_id
WHERE k.public_id = %s
"""


def find_sender(secret: str) -> User | None:
    """The active user of a usable key, with the key as `acting_key` and the groups known; None for any other."""
    public_id = keys.public_id_of(secret)
    if public_id is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_FIND, [public_id])
        rows = cursor.fetchall()
    if not rows:
        return None
    key_id, secret_hash, scopes, codes, expires, revoked, used, user_id, email, is_active, _ = rows[0]
    key = ApiKey(
        pk=key_id,
        secret_hash=secret_hash,
        scopes=_list(scopes),
        system_codes=_list(codes),
        expires_at=_moment(expires),
        revoked_at=_moment(revoked),
        last_used_at=_moment(used),
        user_id=user_id,
    )
    if not is_active or not key.is_usable or not keys.belongs(secret, key):
        return None
    user = User(pk=user_id, email=email, is_active=True)
    user.know(groups=[row[-1] for row in rows if row[-1]], system_ids=[])
    user.acting_key = key
    keys.seen(key)
    return user


def _list(value: Any) -> list[Any]:
    return json.loads(value) if isinstance(value, str) else value


def _moment(value: dt.datetime | None) -> dt.datetime | None:
    """SQLite gives times without their zone, which is UTC."""
    return value if value is None or timezone.is_aware(value) else timezone.make_aware(value, dt.UTC)
