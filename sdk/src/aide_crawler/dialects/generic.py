"""Reads any other database through SQLAlchemy's Inspector, with its bulk calls, a schema at a time."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy.engine import Engine, Inspector
from sqlalchemy.engine.reflection import ObjectKind, ObjectScope
from sqlalchemy.pool import NullPool

from aide_crawler.connection_url import URL
from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.generic_documents import document, is_unknown, unknown_types
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Progress
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import explain
from aide_crawler.urls import place_of
from aide_crawler.watch import Watch

_SYSTEM = frozenset(
    {"information_schema", "pg_catalog", "sys", "system", "guest", "db_owner", "db_accessadmin"}
    | {"db_securityadmin", "db_ddladmin", "db_backupoperator", "db_datareader", "db_datawriter"}
    | {"db_denydatareader", "db_denydatawriter", "outln", "xdb", "ctxsys", "mdsys", "wmsys", "dbsnmp"}
    | {"appqossys", "audsys", "dbsfwuser", "dip", "ggsys", "gsmadmin_internal", "lbacsys", "ojvmsys"}
    | {"olapsys", "orddata", "ordsys", "remote_scheduler_agent", "sysbackup", "sysdg", "syskm", "sysrac"}
)
_ENDS_THE_CRAWL = frozenset({"connection_lost", "cancelled"})
_PARTS = ("columns", "pk_constraint", "foreign_keys", "unique_constraints", "indexes", "table_comment")
_CHECK_EVERY = 200


@dataclass
class _SchemaParts:
    """What the Inspector tells of one schema, by table."""

    kinds: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    unknown: dict[str, dict[str, str]] = field(default_factory=dict)


def read(url: URL, scope: Scope, watch: Watch) -> Snapshot:
    """The snapshot of any database that SQLAlchemy has a dialect for; raises CrawlError."""
    failure: CrawlError
    engine: Engine | None = None
    connected = False
    try:
        engine = sqlalchemy.create_engine(url.for_sqlalchemy(), poolclass=NullPool, hide_parameters=True)
        connection = watch.run(
            engine.connect,
            seconds=watch.limits.connect_seconds + 2,
            too_long=CrawlError("timeout", f"The server {place_of(url)} did not answer in time."),
        )
        connected = True
        try:
            inspector = watch.run(
                lambda: sqlalchemy.inspect(connection), seconds=watch.limits.statement_seconds
            )
            return _look(inspector, url, scope, watch)
        finally:
            with contextlib.suppress(Exception):  # a connection that is lost already cannot be closed better
                connection.close()
    except Exception as error:  # noqa: BLE001 - any driver may raise anything; it becomes a CrawlError
        failure = explain(error, url, connecting=not connected)
    finally:
        if engine is not None:
            engine.dispose()
    raise failure


def _look(inspector: Inspector, url: URL, scope: Scope, watch: Watch) -> Snapshot:
    def ask(call: Callable[[], Any]) -> Any:
        return watch.run(call, seconds=watch.limits.statement_seconds)

    default = ask(lambda: inspector.default_schema_name) or "main"
    names = [name for name in ask(inspector.get_schema_names) if name] or [default]
    notes = CoverageNotes()
    notes.missing_schemas(scope, set(names), is_system=_is_system, certain=False)
    schemas = sorted(name for name in set(names) if not _is_system(name) and scope.covers_schema(name))
    datasets: list[dict[str, Any]] = []
    failures: list[CrawlError] = []
    for index, schema in enumerate(schemas):
        watch.progress(Progress(schema, None, index, len(schemas), 0, 0), important=True)
        failure: CrawlError | None = None
        try:
            found = ask(partial(_read_schema, inspector, schema))
        except Exception as error:  # noqa: BLE001 - noted in the coverage, or it ends the crawl
            failure = explain(error, url, connecting=False)
        if failure is not None:
            if failure.code in _ENDS_THE_CRAWL or watch.remaining() == 0:
                raise failure
            failures.append(failure)
            notes.schema(schema, failed=failure.sentence)
            continue
        notes.schema(schema)
        datasets += _documents(found, schema, scope, notes, watch, dialect=inspector.dialect)
    if failures and len(failures) == len(schemas):
        raise failures[0]
    total = len(datasets)
    watch.progress(Progress(None, None, len(schemas), len(schemas), total, total), important=True)
    return Snapshot(url.get_backend_name(), url.database, scope, tuple(datasets), notes.coverage(total))


def _read_schema(inspector: Inspector, schema: str) -> _SchemaParts:
    """All parts of one schema; a part that the dialect does not know stays empty."""
    found = _SchemaParts()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")  # types that SQLAlchemy does not know are named in its warnings alone
        for kind, method in (
            ("table", inspector.get_table_names),
            ("view", inspector.get_view_names),
            ("materialized_view", inspector.get_materialized_view_names),
        ):
            with contextlib.suppress(NotImplementedError):
                found.kinds.update(dict.fromkeys(method(schema), kind))
        for part in _PARTS:
            with contextlib.suppress(NotImplementedError):
                call = getattr(inspector, f"get_multi_{part}")
                answer = call(schema=schema, kind=ObjectKind.ANY, scope=ObjectScope.DEFAULT)
                found.parts[part] = {name: value for (_, name), value in answer.items()}
        found.unknown = _name_unknown_types(inspector, schema, found.parts.get("columns", {}), heard)
    inspector.clear_cache()
    return found


def _name_unknown_types(
    inspector: Inspector, schema: str, columns: dict[str, Any], heard: list[warnings.WarningMessage]
) -> dict[str, dict[str, str]]:
    """By table and column, the types that SQLAlchemy does not know; a table is asked alone where it is unclear."""
    everywhere = unknown_types(heard)
    found: dict[str, dict[str, str]] = {}
    for table, own in columns.items():
        names = [column["name"] for column in own if is_unknown(column)]
        told = everywhere
        if any(len(told.get(name, ())) > 1 for name in names):
            inspector.clear_cache()
            heard.clear()
            inspector.get_columns(table, schema)
            told = unknown_types(heard)
        if names:
            found[table] = {name: min(told[name]) for name in names if told.get(name)}
    return found


def _documents(
    found: _SchemaParts, schema: str, scope: Scope, notes: CoverageNotes, watch: Watch, *, dialect: Any
) -> list[dict[str, Any]]:
    datasets = []
    wanted = sorted(name for name in found.kinds if scope.covers(schema, name))
    for index, name in enumerate(wanted):
        if index % _CHECK_EVERY == 0:
            watch.check()
        notes.listed += 1
        parts = {part: values.get(name) for part, values in found.parts.items()}
        if not parts.get("columns"):
            notes.fail(schema, name, "Its columns could not be read.")
            continue
        unknown = found.unknown.get(name)
        datasets.append(document(schema, name, found.kinds[name], parts, dialect=dialect, unknown=unknown))
    return datasets


def _is_system(schema: str) -> bool:
    return schema.lower() in _SYSTEM
