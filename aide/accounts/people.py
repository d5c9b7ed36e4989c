"""Turning people on and off, so that somebody can always administer."""

from __future__ import annotations

from django.db import transaction

from aide.accounts import roles, tokens
from aide.accounts.models import User
from aide.audit.entries import Entry, record
from aide.core.errors import Conflict


def refuse_without_admin() -> None:
    """Called in the transaction of a change of people: at least one active administrator must remain."""
    admins = User.objects.filter(is_active=True, groups__name=roles.ADMIN, user_type=User.Type.REGULAR)
    if not admins.exists():
        raise Conflict("LAST_ADMIN", "Without this person nobody could administer AIDE any more.")


@transaction.atomic
def deactivate(user: User, *, by: User | None) -> User:
    """The person or program cannot log in any more; everything they did keeps their name."""
    return _switch(user, is_active=False, by=by)


@transaction.atomic
def activate(user: User, *, by: User | None) -> User:
    return _switch(user, is_active=True, by=by)


def end_sessions(user: User) -> None:
    """After a new password or a deactivation: nobody stays logged in."""
    tokens.revoke_all(user)


def _switch(user: User, *, is_active: bool, by: User | None) -> User:
    if user.is_active == is_active:
        return user
    user.is_active = is_active
    user.row_version += 1
    user.save(update_fields=["is_active", "row_version", "updated_at"])
    if not is_active:
        refuse_without_admin()
        end_sessions(user)
    action = "user.activate" if is_active else "user.deactivate"
    record(Entry(action=action, object_type="user", object_id=user.pk, object_name=user.email), by=by)
    return user
