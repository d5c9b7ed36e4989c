"""Opens a driver's connection as SQLAlchemy would, within the time to connect, and runs statements on it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.errors import CrawlError
from aide_crawler.options import check_options
from aide_crawler.trouble import explain
from aide_crawler.urls import place_of
from aide_crawler.watch import Watch

_BEYOND_LIMIT = 5.0
_PSYCOPG = "postgresql+psycopg"
Connect = Callable[..., Any]


class Connection:
    """One driver connection whose every call is watched."""

    def __init__(self, raw: Any, url: URL, watch: Watch) -> None:
        self.raw = raw
        self.url = url
        self.watch = watch
        self.statements = 0

    def rows(self, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """All rows of one statement; the driver's exception as it is."""
        self.statements += 1

        def call() -> list[tuple[Any, ...]]:
            cursor = self.raw.cursor()
            try:
                if parameters is None:
                    cursor.execute(sql)
                else:
                    cursor.execute(sql, parameters)
                return list(cursor.fetchall()) if cursor.description else []
            finally:
                cursor.close()

        return self.watch.run(call, seconds=self.watch.limits.statement_seconds + _BEYOND_LIMIT)

    def close(self) -> None:
        """Close without a word: nothing was written."""
        with contextlib.suppress(Exception):  # a connection that is lost already cannot be closed better
            self.raw.close()


def open_connection(
    url: URL,
    watch: Watch,
    *,
    arguments: Mapping[str, Any],
    overrides: Callable[[dict[str, Any]], None] | None = None,
) -> Connection:
    """A connection made as SQLAlchemy would read the URL; raises CrawlError.

    `arguments` are the driver's keyword arguments, whatever the URL says; `overrides` may change
    the final ones.
    """
    check_options(url)
    failure: CrawlError
    try:
        connect, keywords = _psycopg(url) if url.drivername == _PSYCOPG else _of_sqlalchemy(url)
        merged = {**keywords, **arguments}
        if overrides is not None:
            overrides(merged)
        seconds = watch.limits.connect_seconds
        raw = watch.run(
            lambda: connect(**merged),
            seconds=seconds + 2,
            too_long=CrawlError("timeout", f"The server {place_of(url)} did not answer in time."),
        )
        return Connection(raw, url, watch)
    except CrawlError as error:
        failure = error
    except Exception as error:  # noqa: BLE001 - any driver may raise anything; it becomes a CrawlError below
        failure = explain(error, url, connecting=True)
    raise failure


def _psycopg(url: URL) -> tuple[Connect, dict[str, Any]]:
    """How psycopg connects, without SQLAlchemy, whose import takes longer than reading many a database."""
    import psycopg

    parts = {"host": url.host, "port": url.port, "dbname": url.database, "user": url.username,
             "password": url.password}  # fmt: skip
    return psycopg.connect, {**{name: part for name, part in parts.items() if part}, **url.query}


def _of_sqlalchemy(url: URL) -> tuple[Connect, dict[str, Any]]:
    """How any other driver connects, by SQLAlchemy's reading of the URL."""
    theirs = url.for_sqlalchemy()
    dialect_class = theirs.get_dialect()
    dialect: Any = dialect_class(dbapi=dialect_class.import_dbapi())  # type: ignore[call-arg]
    positional, keywords = dialect.create_connect_args(theirs)
    return partial(dialect.connect, *positional), keywords
