"""People at the screens, each with a browser-like client, and a small registry to look at."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.test import Client

from aide.accounts.models import User
from registry.models import Dataset, System
from tests.factories import make_dataset, make_system, make_user, publish


class Screen(Client):
    """A client that asks for HTML, as browsers do, signed in as `user` if there is one."""

    def __init__(self, user: User | None = None) -> None:
        super().__init__(headers={"accept": "text/html,application/xhtml+xml"})
        self.user = user
        if user is not None:
            self.force_login(user)


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    cache.clear()


@pytest.fixture
def screen(db: None) -> Callable[..., Screen]:
    """`screen("steward", systems=[…])` is a signed-in client of a new person with these roles."""

    def make(*roles: str, systems: tuple[System, ...] = ()) -> Screen:
        user = make_user(*roles, full_name=f"{roles[0].title()} Person")
        user.systems.set(systems)  # type: ignore[attr-defined]
        return Screen(User.objects.get(pk=user.pk))

    return make


@pytest.fixture
def system(db: None) -> System:
    return make_system("pg-crm", name="Customer relations")


@pytest.fixture
def dataset(system: System) -> Dataset:
    """A table of three columns with one published version."""
    row = make_dataset("customers", system=system, status=Dataset.Status.ACTIVE)
    publish(row, ("id", "bigint"), ("email", "varchar(120)"), ("phone", "varchar(20)"))
    row.refresh_from_db()
    return row
