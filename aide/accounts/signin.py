"""Log-in over the API: at most five failed tries a minute for each account and address."""

from __future__ import annotations

import datetime as dt
import hashlib

from django.conf import settings
from django.utils import timezone

from aide.accounts.backends import check_password
from aide.accounts.models import FailedLogin, User
from aide.core.errors import DomainError

WINDOW = dt.timedelta(minutes=1)


class InvalidCredentialsError(DomainError):
    """E-mail and password do not belong together, or the account is off; the answer does not say which."""

    default_code = "INVALID_CREDENTIALS"
    default_status = 401


class TooManyTriesError(DomainError):
    """The account and address have failed too often within a minute."""

    default_code = "RATE_LIMITED"
    default_status = 429


def sign_in(email: str, password: str, *, address: str) -> User:
    """The user, or one of the two errors above. Tries that succeed are not counted."""
    key = _key(email, address)
    refuse_if_locked(key)
    user = check_password(email, password)
    if user is None:
        count_failure(key)
        raise InvalidCredentialsError(detail="The e-mail or the password is wrong.")
    User.objects.filter(pk=user.pk).update(last_login=timezone.now())
    return user


def refuse_if_locked(key: str) -> None:
    """Raises when the key has failed as often as it may."""
    now = timezone.now()
    failed = list(
        FailedLogin.objects.filter(key=key, at__gt=now - WINDOW)
        .order_by("-at")
        .values_list("at", flat=True)[: settings.AIDE_LOGIN_TRIES_A_MINUTE]
    )
    if len(failed) >= settings.AIDE_LOGIN_TRIES_A_MINUTE:
        wait = int((failed[-1] + WINDOW - now).total_seconds()) + 1
        raise TooManyTriesError(
            detail="Too many failed tries. Wait a minute and try again.", extra={"retry_after": wait}
        )


def count_failure(key: str) -> None:
    """Remembers one failed try, and forgets those that no longer count."""
    now = timezone.now()
    FailedLogin.objects.filter(at__lt=now - WINDOW).delete()
    FailedLogin.objects.create(key=key, at=now)


def throttle_key(account: str, address: str) -> str:
    """What tries are counted by; a hash, so that mistyped passwords in the name field are not kept."""
    return _key(account, address)


def _key(account: str, address: str) -> str:
    text = f"{account.strip().casefold()}\n{address}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
