"""How the screens' log-in checks a password, and how any right is answered."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.db.models import F
from django.http import HttpRequest

from aide.accounts.models import User


def check_password(email: str, password: str) -> User | None:
    """The active user with this e-mail (in any case) and password; an unknown one takes as long as a wrong one."""
    if "\x00" in email or "\x00" in password:
        return None
    user = User.objects.filter(email__iexact=email.strip()).first()
    if user is None:
        User().set_password(password)
        return None
    return user if user.check_password(password) and user.is_active else None


class EmailBackend(BaseBackend):
    """Log-in by e-mail and password; rights are the user's own methods, which read the groups."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **_: Any
    ) -> User | None:
        if not username or password is None:
            return None
        return check_password(username, password)

    def get_user(self, user_id: int) -> User | None:
        """The active user with roles and systems known, in one statement: every page asks for them."""
        joined = User.objects.filter(pk=user_id, is_active=True).annotate(
            joined_group=F("groups__name"), joined_system=F("systems__pk")
        )
        rows: list[Any] = list(joined)
        if not rows:
            return None
        user: User = rows[0]
        user.know(
            groups={row.joined_group for row in rows if row.joined_group is not None},
            system_ids={row.joined_system for row in rows if row.joined_system is not None},
        )
        return user
