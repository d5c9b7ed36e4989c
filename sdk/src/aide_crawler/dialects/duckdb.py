"""Reads a DuckDB file, opened read-only, through its own table functions; no Inspector of today can."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.dialects.connection import Connection
from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.duckdb_documents import Row, Rows, document
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Progress
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import detail_of
from aide_crawler.watch import Watch

_CHECK_EVERY = 200
# Nothing that a file holds may reach for other files or the network, or load code.
_SETTINGS = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}


def read(url: URL, scope: Scope, watch: Watch) -> Snapshot:
    """The snapshot of a DuckDB file; raises CrawlError, and never makes a file."""
    path = _path(url)
    try:
        driver: Any = import_module("duckdb")
    except ImportError:
        raise CrawlError("missing_driver", "Reading DuckDB files needs the Python package duckdb.") from None
    failure: CrawlError
    try:
        return _read_file(driver.connect, path, url, scope, watch)
    except driver.Error as error:
        failure = _explain(error, path)
    raise failure


def _read_file(connect: Callable[..., Any], path: Path, url: URL, scope: Scope, watch: Watch) -> Snapshot:
    raw = watch.run(
        lambda: connect(str(path), read_only=True, config=_SETTINGS), seconds=watch.limits.connect_seconds + 2
    )
    connection = Connection(raw, url, watch)
    watch.interrupt = raw.interrupt
    try:
        return _look(connection, path, scope)
    finally:
        connection.close()


def _look(connection: Connection, path: Path, scope: Scope) -> Snapshot:
    watch = connection.watch
    existing = [row["schema_name"] for row in _rows(connection, "duckdb_schemas", "true")]
    existing = [name for name in dict.fromkeys(existing) if not _is_system(name)]
    notes = CoverageNotes()
    notes.missing_schemas(scope, set(existing), is_system=_is_system)
    for schema in existing:
        if scope.covers_schema(schema):
            notes.schema(schema)
    rows = Rows(
        columns=_grouped(_rows(connection, "duckdb_columns")),
        constraints=_grouped(_rows(connection, "duckdb_constraints", "true")),
        indexes=_grouped(_rows(connection, "duckdb_indexes", "true")),
    )
    found = [("table", row["table_name"], row) for row in _rows(connection, "duckdb_tables")]
    found += [("view", row["view_name"], row) for row in _rows(connection, "duckdb_views")]
    found = [each for each in found if scope.covers(each[2]["schema_name"], each[1])]
    datasets: list[dict[str, Any]] = []
    for index, (kind, name, row) in enumerate(
        sorted(found, key=lambda each: (each[2]["schema_name"], each[1]))
    ):
        schema = row["schema_name"]
        if index % _CHECK_EVERY == 0:
            watch.check()
        watch.progress(Progress(schema, name, 0, 1, index, len(found)))
        notes.listed += 1
        if (schema, name) in rows.columns:
            datasets.append(document(kind, name, row, rows))
        elif kind == "view":
            notes.skip(schema, name, "The view does not work, or was never bound to its tables.")
            datasets.append(document(kind, name, row, rows, broken=True))
        else:
            notes.fail(schema, name, "Its columns could not be read.")
    total = len(datasets)
    watch.progress(Progress(None, None, 1, 1, total, total), important=True)
    return Snapshot("duckdb", str(path), scope, tuple(datasets), notes.coverage(total))


def _rows(connection: Connection, function: str, where: str = "not internal") -> list[Row]:
    """The rows of a function about this database, by column; newer versions have more columns."""
    described = connection.rows(f"select column_name from (describe from {function}())")  # noqa: S608
    names = [row[0] for row in described]
    answer = connection.rows(
        f"select * from {function}() where database_name = current_database() and {where}"  # noqa: S608
    )
    return [dict(zip(names, row, strict=True)) for row in answer]


def _grouped(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    grouped: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["schema_name"], row["table_name"]].append(row)
    return grouped


def _is_system(schema: str) -> bool:
    return schema in ("information_schema", "pg_catalog")


def _path(url: URL) -> Path:
    """The file of the URL, which must exist: DuckDB would make it."""
    path = Path(url.database or "")
    if not path.is_absolute():
        raise CrawlError(
            "bad_url", "A DuckDB URL must name a file, as in duckdb:////absolute/path/to/file.duckdb."
        )
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise CrawlError("open_failed", f"There is no file {path}.")
    return path


def _explain(error: Exception, path: Path) -> CrawlError:
    detail = detail_of(error, ())
    text = detail.lower()
    if "lock" in text:
        return CrawlError("timeout", f"The DuckDB file {path} is locked by another program.")
    if type(error).__name__ in ("IOException", "SerializationException", "InvalidInputException"):
        return CrawlError("open_failed", f"The DuckDB file {path} cannot be read: {detail}.")
    return CrawlError("failed", f"Reading the DuckDB file {path} failed: {detail}.")
