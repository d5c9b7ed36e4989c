"""Access tokens (JWT) and refresh tokens; a refresh token that is used twice revokes its whole family."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken

from aide.accounts.models import ApiKey, RefreshToken, User
from aide.core.errors import DomainError

_KEY_CLAIM = "key"
_ISSUED_CLAIM = "issued"


@dataclass(frozen=True)
class Tokens:
    """What a log-in answers."""

    access_token: str
    expires_in: int
    refresh_token: str = ""

    def as_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "access_token": self.access_token,
            "token_type": "bearer",
            "expires_in": self.expires_in,
        }
        if self.refresh_token:
            found["refresh_token"] = self.refresh_token
        return found


class RefreshRevokedError(DomainError):
    """The refresh token is unknown, used, revoked or too old."""

    default_code = "REFRESH_TOKEN_REVOKED"
    default_status = 401


def issue(user: User, *, family: uuid.UUID | None = None) -> Tokens:
    """A new pair of tokens, in a new family or in the one that is being refreshed."""
    refresh = secrets.token_urlsafe(48)
    now = timezone.now()
    RefreshToken.objects.filter(expires_at__lt=now - dt.timedelta(days=1)).delete()
    RefreshToken.objects.create(
        user=user,
        family=family or uuid.uuid4(),
        token_hash=_hash(refresh),
        expires_at=now + api_settings.REFRESH_TOKEN_LIFETIME,
    )
    access = _access(user)
    return Tokens(str(access), _seconds(access), refresh)


def issue_for_key(key: ApiKey) -> Tokens:
    """An access token that carries an API key's rights, without a refresh token."""
    access = _access(key.user)
    access[_KEY_CLAIM] = key.public_id
    return Tokens(str(access), _seconds(access))


def refresh(token: str) -> Tokens:
    """Rotates: the old token is used up. Using it again revokes everything that came from the same log-in."""
    refused = RefreshRevokedError(detail="This refresh token is no longer valid. Log in again.")
    with transaction.atomic():
        row = RefreshToken.objects.select_for_update().filter(token_hash=_hash(token)).first()
        if row is None:
            raise refused
        now = timezone.now()
        reused = row.used_at is not None
        fine = not reused and row.revoked_at is None and row.expires_at > now
        user = User.objects.filter(pk=row.user_id, is_active=True).first()
        if fine and user is not None:
            row.used_at = now
            row.save(update_fields=["used_at", "updated_at"])
            return issue(user, family=row.family)
        if reused:
            _revoke(RefreshToken.objects.filter(family=row.family))
    raise refused


def revoke_family(token: str) -> None:
    """Logs out the log-in that a refresh token belongs to; an unknown token is no error."""
    row = RefreshToken.objects.filter(token_hash=_hash(token)).first()
    if row is not None:
        _revoke(RefreshToken.objects.filter(family=row.family))


@transaction.atomic
def revoke_all(user: User) -> None:
    """Logs out everywhere: refresh tokens at once, and access tokens that were issued before now."""
    _revoke(RefreshToken.objects.filter(user=user))
    User.objects.filter(pk=user.pk).update(tokens_valid_from=timezone.now())


def read_access(text: str) -> tuple[int, str, float] | None:
    """(user id, public id of an API key or "", issued at) of a valid access token."""
    try:
        token = AccessToken(text)  # type: ignore[arg-type]
        return int(token["user_id"]), str(token.get(_KEY_CLAIM, "")), float(token[_ISSUED_CLAIM])
    except (TokenError, KeyError, ValueError, TypeError):
        return None


def _access(user: User) -> AccessToken:
    access = AccessToken.for_user(user)
    # The standard `iat` counts whole seconds: too coarse to tell before from after "log out everywhere".
    access[_ISSUED_CLAIM] = timezone.now().timestamp()
    return access


def _revoke(rows: Any) -> None:
    rows.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _seconds(access: AccessToken) -> int:
    return int(access.lifetime.total_seconds())
