"""Opens a driver's connection as SQLAlchemy would, within the time to connect, and runs statements on it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.engine import URL

from aide_crawler.errors import CrawlError
from aide_crawler.options import check_options
from aide_crawler.trouble import explain
from aide_crawler.urls import place_of
from aide_crawler.watch import Watch

_BEYOND_LIMIT = 5.0


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
    """A connection made with SQLAlchemy's reading of the URL; raises CrawlError.

    `arguments` are the driver's keyword arguments, whatever the URL says; `overrides` may change
    the final ones.
    """
    check_options(url)
    failure: CrawlError
    try:
        dialect_class = url.get_dialect()
        dialect: Any = dialect_class(dbapi=dialect_class.import_dbapi())  # type: ignore[call-arg]
        positional, keywords = dialect.create_connect_args(url)
        merged = {**keywords, **arguments}
        if overrides is not None:
            overrides(merged)
        seconds = watch.limits.connect_seconds
        raw = watch.run(
            lambda: dialect.connect(*positional, **merged),
            seconds=seconds + 2,
            too_long=CrawlError("timeout", f"The server {place_of(url)} did not answer in time."),
        )
        return Connection(raw, url, watch)
    except CrawlError as error:
        failure = error
    except Exception as error:  # noqa: BLE001 - any driver may raise anything; it becomes a CrawlError below
        failure = explain(error, url, connecting=True)
    raise failure
