"""Databases of their own for single tests of the crawler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy.engine import make_url


def _maker(server: Any) -> Iterator[Callable[..., str]]:
    made: list[str] = []

    def make(script: str = "", *, name: str | None = None, **options: str) -> str:
        url = server.create_database(name, **options)
        made.append(str(make_url(url).database))
        if script.strip():
            server.execute(script, database=made[-1])
        return str(url)

    yield make
    for each in made:
        server.drop_database(each)


@pytest.fixture
def postgres_database(postgres_server: Any) -> Iterator[Callable[..., str]]:
    """Make a PostgreSQL database from a script, and get its URL."""
    yield from _maker(postgres_server)


@pytest.fixture
def mariadb_database(mariadb_server: Any) -> Iterator[Callable[..., str]]:
    """Make a MariaDB database from a script, and get its URL."""
    yield from _maker(mariadb_server)
