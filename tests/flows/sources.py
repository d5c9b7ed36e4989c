"""Source databases for the flows: one object for a fresh database on each engine."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url

from registry.models import System, SystemFlavor

ENGINES = ("postgresql", "mariadb", "sqlite")
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """A database that can be crawled and changed; `schema` is what its tables' names begin with."""

    flavor: str
    url: str
    schema: str
    execute: Callable[[str], None]

    def name(self, table: str) -> str:
        return f"{self.schema}.{table}"

    def system(self, **values: Any) -> System:
        """A system that reaches this database."""
        return make_system(self.flavor, self.url, **values)


def make_system(flavor: str, url: str = "", *, code: str = "", **values: Any) -> System:
    code = code or f"{flavor}-{next(_numbers)}"
    return System.objects.create(
        code=code,
        name=code,
        flavor=SystemFlavor.objects.get(code=flavor),
        connection_url=url,
        **values,
    )


def open_source(engine: str, *, request: Any, folder: Path) -> Source:
    """An empty database of an engine; the engine's server is started when it is first asked for."""
    if engine == "sqlite":
        return sqlite_source(folder / f"source{next(_numbers)}.sqlite3")
    fixture = {"postgresql": "postgres_server", "mariadb": "mariadb_server"}[engine]
    server = request.getfixturevalue(fixture)
    url = server.create_database()
    database = make_url(url).database
    return Source(
        flavor=engine,
        url=url,
        schema="public" if engine == "postgresql" else str(database),
        execute=lambda script: server.execute(script, database=database),
    )


def sqlite_source(path: Path) -> Source:
    def execute(script: str) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript(script)

    execute("PRAGMA user_version = 1")
    return Source(flavor="sqlite", url=f"sqlite:///{path}", schema="main", execute=execute)
