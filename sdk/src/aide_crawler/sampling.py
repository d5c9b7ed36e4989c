"""Looks at some values of columns and hands them to a counter at once; no value leaves this module otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aide_crawler.connection_url import URL
from aide_crawler.dialects import mysql, postgresql, sqlite
from aide_crawler.dialects.connection import Connection
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Limits
from aide_crawler.options import check_options
from aide_crawler.trouble import explain
from aide_crawler.urls import read_url, sqlite_path, with_password
from aide_crawler.watch import Watch

Counted = TypeVar("Counted")
ROWS = 200
LONGEST = 400
"""Characters of a value that are read; the rest of a longer one stays where it is."""
_FATAL = frozenset({"connection_lost", "timeout", "cancelled"})


@dataclass(frozen=True)
class Table:
    """A table by its schema and name, and the columns to look at."""

    schema: str
    name: str
    columns: Sequence[str]


def can_sample(url: str | URL) -> bool:
    """Whether values of this kind of database can be looked at."""
    return read_url(url).get_backend_name() in {"postgresql", "mysql", "mariadb", "sqlite"}


def sample(
    url: str | URL,
    tables: Iterable[Table],
    count: Callable[[list[Any]], Counted],
    *,
    password: str | None = None,
    rows: int = ROWS,
    limits: Limits | None = None,
) -> dict[tuple[str, str], dict[str, Counted]]:
    """What `count` makes of the first rows of each column, by table and column; read-only.

    A table that cannot be read is left out. Raises CrawlError when the source cannot be reached; neither its sentence
    nor anything that hangs on it holds a value.
    """
    check_options(read_url(url))
    target = with_password(url, password)
    watch = Watch(limits or Limits(statement_seconds=10, total_seconds=600))
    failure: CrawlError
    try:
        connection = _open(target, watch)
        try:
            return _sampled(connection, target, tables, count, rows)
        finally:
            connection.close()
    except CrawlError as error:
        failure = CrawlError(error.code, error.sentence)
    except Exception as error:  # noqa: BLE001 (a driver's text may hold a value: only what explain tells goes on)
        told = explain(error, target, connecting=False)
        failure = CrawlError(told.code, "The values could not be looked at.")
    finally:
        watch.close()
    raise failure


def _sampled(
    connection: Connection,
    url: URL,
    tables: Iterable[Table],
    count: Callable[[list[Any]], Counted],
    rows: int,
) -> dict[tuple[str, str], dict[str, Counted]]:
    found: dict[tuple[str, str], dict[str, Counted]] = {}
    for table in tables:
        if not table.columns:
            continue
        connection.watch.check()
        try:
            _begin(connection, url)
            values = connection.rows(_statement(url, table, rows))
        except CrawlError:
            raise
        except Exception as error:  # a table that is missing in the answer is told by whoever asked
            if explain(error, url, connecting=False).code in _FATAL:
                raise
            continue
        finally:
            _end(connection)
        found[table.schema, table.name] = {
            name: count([row[place] for row in values]) for place, name in enumerate(table.columns)
        }
        values.clear()
    return found


def _open(url: URL, watch: Watch) -> Connection:
    kind = url.get_backend_name()
    if kind == "postgresql":
        return postgresql._connect(url, watch)
    if kind in {"mysql", "mariadb"}:
        return mysql._connect(url, watch)
    if kind == "sqlite":
        return sqlite._open(sqlite_path(url), url, watch)
    raise CrawlError("bad_url", f"Values of a {kind} database cannot be looked at.")


def _begin(connection: Connection, url: URL) -> None:
    kind = url.get_backend_name()
    if kind == "postgresql":
        connection.rows("SET TRANSACTION READ ONLY")
        connection.rows(
            f"SET LOCAL statement_timeout = {int(connection.watch.limits.statement_seconds * 1000)}"
        )
    elif kind in {"mysql", "mariadb"}:
        connection.rows("START TRANSACTION READ ONLY")


def _end(connection: Connection) -> None:
    rollback = getattr(connection.raw, "rollback", None)
    if rollback is not None:
        rollback()


def _statement(url: URL, table: Table, rows: int) -> str:
    mark = "`" if url.get_backend_name() in {"mysql", "mariadb"} else '"'

    def quote(name: str) -> str:
        return f"{mark}{name.replace(mark, mark * 2)}{mark}"

    cast = {"postgresql": "left({}::text, {})", "sqlite": "substr(cast({} as text), 1, {})"}.get(
        url.get_backend_name(), "left(cast({} as char), {})"
    )
    listed = ", ".join(cast.format(quote(name), LONGEST) for name in table.columns)
    where = f"{quote(table.schema)}.{quote(table.name)}" if table.schema else quote(table.name)
    return f"SELECT {listed} FROM {where} LIMIT {int(rows)}"  # noqa: S608 (quoted identifiers of the registry)
