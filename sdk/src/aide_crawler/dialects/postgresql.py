"""Reads PostgreSQL from pg_catalog: one read-only snapshot, the same few statements whatever the size."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.dialects import postgresql_sql as sql
from aide_crawler.dialects.connection import Connection, open_connection
from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.postgresql_documents import Catalogue, build
from aide_crawler.dialects.postgresql_types import Types
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Progress
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import explain, is_catalogue_in_motion, is_lock_timeout
from aide_crawler.watch import Watch

_OLDEST = 120000
_ATTEMPTS = 3
_FEW_RELATIONS = 2000
_CANCEL_SECONDS = 2.0


@dataclass(frozen=True)
class _Schema:
    """One row of pg_namespace."""

    oid: int
    name: str
    usable: bool


def read(url: URL, scope: Scope, watch: Watch) -> Snapshot:
    """The snapshot of a PostgreSQL database; raises CrawlError."""
    connection = _connect(url, watch)
    failure: CrawlError | None = None
    try:
        for attempt in range(_ATTEMPTS):
            try:
                return _look(connection, scope, watch)
            except Exception as error:  # noqa: BLE001 - any driver's; all but what others do meanwhile end the crawl
                passing = is_lock_timeout(error) or is_catalogue_in_motion(error)
                if not passing or attempt == _ATTEMPTS - 1:
                    failure = explain(error, url, connecting=False)
                    break
                connection.raw.rollback()
    finally:
        connection.close()
    raise failure or CrawlError("failed", "The crawl ended without an answer.")


def _connect(url: URL, watch: Watch) -> Connection:
    shipped = url.get_driver_name() in ("psycopg", "psycopg2")
    arguments: dict[str, Any] = {}
    if shipped:
        arguments = {
            "connect_timeout": max(2, int(watch.limits.connect_seconds)),
            "client_encoding": "utf8",
            "application_name": "aide-crawler",
        }
    connection = open_connection(url, watch, arguments=arguments)
    watch.interrupt = lambda: _cancel(connection.raw)
    info = getattr(connection.raw, "info", None)
    status = getattr(info, "parameter_status", None)
    if url.get_driver_name() == "psycopg" and status is not None and status("server_encoding") == "SQL_ASCII":
        from aide_crawler.dialects.postgresql_ascii import read_any_bytes  # needs psycopg itself

        read_any_bytes(connection.raw)
    return connection


def _cancel(raw: Any) -> None:
    with contextlib.suppress(Exception):  # the statement may have ended, the server may be gone
        if hasattr(raw, "cancel_safe"):  # over a line that is silent it would wait for half a minute
            raw.cancel_safe(timeout=_CANCEL_SECONDS)
        else:
            raw.cancel()


def _look(connection: Connection, scope: Scope, watch: Watch) -> Snapshot:
    connection.rows(sql.BEGIN)
    limits = watch.limits
    setup = connection.rows(
        sql.setup(
            statement_ms=int(limits.statement_seconds * 1000), lock_ms=max(1, int(limits.lock_seconds * 1000))
        )
    )
    database, version, oids, names, usable = setup[0][1:]
    if version < _OLDEST:
        raise CrawlError("failed", "The server is older than PostgreSQL 12, the oldest that can be read.")
    schemas = [
        _Schema(int(oid), name, bool(may))
        for oid, name, may in zip(oids, names, usable, strict=True)
        if not _is_system(name) and scope.covers_schema(name)
    ]
    notes = CoverageNotes()
    for schema in schemas:
        notes.schema(schema.name)
    notes.missing_schemas(scope, set(names), is_system=_is_system)
    catalogue = _read_catalogue(connection, schemas, scope, version=version) if schemas else Catalogue()
    datasets = build(catalogue, notes, watch)
    watch.progress(_done(len(schemas), len(datasets)), important=True)
    return Snapshot("postgresql", database, scope, tuple(datasets), notes.coverage(len(datasets)))


def _read_catalogue(
    connection: Connection, schemas: list[_Schema], scope: Scope, *, version: int
) -> Catalogue:
    """All rows about the relations in the scope."""
    namespaces = [schema.oid for schema in schemas]
    by_oid = {schema.oid: schema for schema in schemas}
    catalogue = Catalogue()
    listed = 0
    parents: dict[int, int] = {}
    partitioned: set[int] = set()
    for row in connection.rows(sql.relations(namespaces)):
        oid, namespace, name, kind, is_partition = row[:5]
        if is_partition:
            parents.update({oid: row[11][0]} if row[11] else {})
            partitioned.update({oid} if kind == "p" else ())
            continue
        listed += 1
        schema = by_oid[namespace]
        if scope.covers(schema.name, name):
            catalogue.relations[oid] = (schema.name, schema.usable, row)
    catalogue.partition_counts = _count_partitions(parents, partitioned)
    selected = list(catalogue.relations)
    if not selected:
        return catalogue
    narrow = len(selected) <= _FEW_RELATIONS and len(selected) < listed

    def among(alias: str) -> str:
        return sql.among(alias, selected) if narrow else sql.in_namespaces(alias, namespaces)

    locked = [oid for oid, (_, _, row) in catalogue.relations.items() if row[17]]
    wanted, free = among("c"), sql.not_among("c", locked)
    catalogue.columns = connection.rows(sql.columns(wanted))
    catalogue.columns.sort()
    catalogue.types = Types(connection.rows(sql.types(wanted, version=version)), version=version)
    catalogue.defaults = {
        (relation, number): text for relation, number, text in connection.rows(sql.defaults(wanted, free))
    }
    catalogue.comments = {
        (relation, number): text for relation, number, text in connection.rows(sql.comments(wanted))
    }
    catalogue.constraints = _by_relation(
        connection.rows(sql.constraints(wanted, f"r.oid is not null and {among('r')}", version=version))
    )
    catalogue.indexes = _by_relation(connection.rows(sql.indexes(wanted, free, version=version)))
    catalogue.sequences = {(row[0], row[1]): row for row in connection.rows(sql.sequences(wanted))}
    return catalogue


def _by_relation(rows: list[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    grouped: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    return grouped


def _count_partitions(parents: dict[int, int], partitioned: set[int]) -> dict[int, int]:
    """For each topmost table, how many partitions hold its rows."""
    counts: defaultdict[int, int] = defaultdict(int)
    for oid in parents:
        if oid in partitioned:
            continue
        top = oid
        while top in parents:
            top = parents[top]
        counts[top] += 1
    return counts


def _is_system(schema: str) -> bool:
    """The server reserves every name with this prefix for itself."""
    return schema == "information_schema" or schema.startswith("pg_")


def _done(schemas: int, tables: int) -> Progress:
    return Progress(None, None, schemas, schemas, tables, tables)
