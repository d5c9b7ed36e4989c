"""The demo's people and programs: a log-in for each role, and two service accounts. Only the demo uses it."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction

from aide.accounts import roles
from aide.accounts.models import User
from aide.audit.entries import Entry, record

DOMAIN = "demo.aide"
PASSWORD = "demo"  # noqa: S105 (a log-in that exists only with AIDE_DEBUG=1, printed for everyone to see)
PEOPLE = (roles.STEWARD, roles.APPROVER, roles.ENGINEER, roles.ADMIN, roles.VIEWER)
PROGRAMS = ("svc-crawler", "svc-pipeline")


def people() -> dict[str, User]:
    """The account of each role; one that is there stays as its people left it."""
    return {role: _account(role, group=role, password=PASSWORD) for role in PEOPLE}


def programs() -> dict[str, User]:
    """The service accounts. They have no password; an administrator gives them keys."""
    return {name: _account(name, group=roles.SERVICE, password=None) for name in PROGRAMS}


def _account(name: str, *, group: str, password: str | None) -> User:
    email = f"{name}@{DOMAIN}"
    user = User.objects.filter(email__iexact=email).first()
    if user is not None:
        return user
    kind = User.Type.REGULAR if password is not None else User.Type.TECHNICAL
    with transaction.atomic():
        user = User.objects.create_user(email, password, full_name=name, user_type=kind)
        user.groups.add(Group.objects.get_or_create(name=group)[0])
        record(Entry("user.create", "user", user.pk, email, after={"groups": [group]}))
    return user
