"""Rows for tests, made by plain functions; each takes what matters to the test and fills in the rest."""

from __future__ import annotations

import itertools
from typing import Any

from django.contrib.auth.hashers import BCryptSHA256PasswordHasher
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from aide.accounts import tokens
from aide.accounts.keys import make_key
from aide.accounts.models import ApiKey, User
from aide.accounts.roles import GROUPS

# The real hash, but cheap: a suite makes hundreds of users.
BCryptSHA256PasswordHasher.rounds = 4

PASSWORD = "correct horse 7 battery"
_numbers = itertools.count(1)


def make_user(*roles: str, email: str = "", password: str = PASSWORD, **values: Any) -> User:
    """An active user in the given groups."""
    name = roles[0] if roles else "nobody"
    user = User.objects.create_user(email or f"{name}{next(_numbers)}@example.com", password, **values)
    make_groups()
    user.groups.set(Group.objects.filter(name__in=roles))
    return User.objects.get(pk=user.pk)


def make_groups() -> None:
    """The six groups, which a migration ships where the tests run migrations."""
    Group.objects.bulk_create([Group(name=name) for name in GROUPS], ignore_conflicts=True)


def make_service(**values: Any) -> User:
    """A program's account."""
    return make_user("service", user_type=User.Type.TECHNICAL, **values)


def make_api_key(user: User, *scopes: str, **values: Any) -> tuple[ApiKey, str]:
    """A key and its secret."""
    return make_key(user=user, name=f"key {next(_numbers)}", scopes=scopes, **values)


def api_client(user: User | None = None, *, secret: str = "") -> APIClient:
    """A client of the API that is logged in with an access token or an API key, or not at all."""
    client = APIClient(raise_request_exception=False)
    if user is not None:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens.issue(user).access_token}")
    if secret:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client
