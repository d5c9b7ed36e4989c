"""Reads MySQL and MariaDB from information_schema: a few bulk statements a schema, joined in Python."""

from __future__ import annotations

import contextlib
import re
import socket
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.dialects.connection import Connection, open_connection
from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.mysql_documents import SchemaRows, build
from aide_crawler.dialects.mysql_grants import Grants, read_grants
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Progress
from aide_crawler.options import as_flags
from aide_crawler.scope import Scope, literal, read_table_pattern
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import explain
from aide_crawler.watch import Watch

Row = tuple[Any, ...]
_SYSTEM = frozenset({"information_schema", "mysql", "performance_schema", "sys", "ndbinfo"})
_ENDS_THE_CRAWL = frozenset({"connection_lost", "cancelled"})
# Modes in which the server spells names, literals and types differently. The others stay: with some,
# the server even tells another nullability for the columns of views.
_OTHER_SPELLINGS = frozenset(
    {"ANSI", "ANSI_QUOTES", "DB2", "IGNORE_SPACE", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40"}
    | {"NO_BACKSLASH_ESCAPES", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "ORACLE"}
    | {"PAD_CHAR_TO_FULL_LENGTH", "PIPES_AS_CONCAT", "POSTGRESQL"}
)
# A server may be set to cut off or refuse long answers, to write names without quotes, and to any time zone.
_SETTINGS = (
    "session sql_select_limit = 18446744073709551615, session sql_big_selects = 1, "
    "session sql_quote_show_create = 1, session time_zone = '+00:00'"
)
_JSON_COLUMN = re.compile(r"^ *`((?:[^`]|``)+)` longtext.* CHECK \((json_valid\(`.+`\))\),?$", re.MULTILINE)
_NOT_ALL_VISIBLE = (
    "Only what is granted table by table is visible to this user, "
    "so a table that is missing may be dropped or only hidden."
)


@dataclass(frozen=True)
class _Server:
    """What kind of server answers."""

    is_mariadb: bool
    version: tuple[int, ...]
    database: str | None
    folds_names: bool

    @property
    def has_expression_keys(self) -> bool:
        return not self.is_mariadb and self.version >= (8, 0, 13)


_LOCAL_INFILE = {
    "pymysql": "local_infile",
    "mysqldb": "local_infile",
    "mysqlconnector": "allow_local_infile",
}


def read(url: URL, scope: Scope, watch: Watch) -> Snapshot:
    """The snapshot of a MySQL or MariaDB server, or of the one database that the URL names."""
    connection = _connect(url, watch)
    failure: CrawlError
    try:
        return _look(connection, scope, watch)
    except Exception as error:  # noqa: BLE001 - any driver may raise anything; it becomes a CrawlError
        failure = explain(error, url, connecting=False)
    finally:
        connection.close()
    raise failure


def _connect(url: URL, watch: Watch) -> Connection:
    shipped = url.get_driver_name() == "pymysql"
    seconds = max(1, int(watch.limits.connect_seconds))
    infile = _LOCAL_INFILE.get(url.get_driver_name())

    def prepare(arguments: dict[str, Any]) -> None:
        password = arguments.get("password")
        if shipped and isinstance(password, str):
            arguments["password"] = password.encode()
        as_flags(arguments)
        if infile is not None:  # else the server could ask for any file of this machine
            arguments[infile] = False

    connection = open_connection(
        url,
        watch,
        arguments={"connect_timeout": seconds, "read_timeout": seconds, "charset": "utf8mb4"}
        if shipped
        else {"connect_timeout": seconds},
        overrides=prepare,
    )
    raw = connection.raw
    if hasattr(raw, "_read_timeout"):
        raw._read_timeout = watch.limits.statement_seconds + 2
    watch.interrupt = lambda: _cut(raw)
    return connection


def _cut(raw: Any) -> None:
    with contextlib.suppress(Exception):  # the connection may be gone already
        if hasattr(raw, "_sock"):  # wakes the thread that waits for an answer, which closing alone does not
            raw._sock.shutdown(socket.SHUT_RDWR)
        getattr(raw, "_force_close", raw.close)()


def _look(connection: Connection, scope: Scope, watch: Watch) -> Snapshot:
    server = _set_up(connection, watch)
    scope = effective_scope(lowered(scope) if server.folds_names else scope, server.database)
    grants = _grants(connection)
    existing = [
        row[0]
        for row in connection.rows("select schema_name from information_schema.schemata")
        if not row[0].startswith("#mysql50#")
    ]
    if grants.everything and not _is_there(server, existing):  # dropped since we logged in to it
        raise CrawlError("no_such_database", f"The server has no database {server.database} any longer.")
    schemas = sorted(name for name in existing if not _is_system(name) and scope.covers_schema(name))
    notes = CoverageNotes()
    notes.missing_schemas(scope, set(existing), is_system=_is_system, certain=grants.everything)
    datasets: list[dict[str, Any]] = []
    failures: list[CrawlError] = []
    for index, schema in enumerate(schemas):
        watch.progress(
            Progress(schema, None, index, len(schemas), len(datasets), len(datasets)), important=True
        )
        failure: CrawlError | None = None
        try:
            rows = _read_schema(connection, schema, server)
            if server.is_mariadb and not grants.shows_schema(schema):
                rows.checks.update(_checks_told(connection, rows))
        except Exception as error:  # noqa: BLE001 - noted in the coverage, or it ends the crawl
            failure = explain(error, connection.url, connecting=False)
        if failure is not None:
            if failure.code in _ENDS_THE_CRAWL or watch.remaining() == 0:
                raise failure
            failures.append(failure)
            notes.schema(schema, failed=failure.sentence)
            continue
        notes.schema(schema, failed=None if grants.shows_schema(schema) else _NOT_ALL_VISIBLE)
        datasets += build(rows, scope, grants, notes, watch, place=(index, len(schemas)))
    if failures and len(failures) == len(schemas):
        raise failures[0]
    total = len(datasets)
    watch.progress(Progress(None, None, len(schemas), len(schemas), total, total), important=True)
    dialect = "mariadb" if server.is_mariadb else "mysql"
    return Snapshot(dialect, server.database, scope, tuple(datasets), notes.coverage(total))


def _is_there(server: _Server, existing: list[str]) -> bool:
    """Whether the database that the URL names is among the existing ones."""
    name = server.database
    if name is None or _is_system(name) or name.startswith("#mysql50#") or name in existing:
        return True
    return server.folds_names and name.lower() in existing


def _set_up(connection: Connection, watch: Watch) -> _Server:
    version, database, modes, folding = connection.rows(
        "select version(), database(), @@sql_mode, @@lower_case_table_names"
    )[0]
    is_mariadb = "mariadb" in version.lower()
    numbers = tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
    seconds = watch.limits.statement_seconds
    limit = (
        f"max_statement_time = {seconds:g}" if is_mariadb else f"max_execution_time = {int(seconds * 1000)}"
    )
    lock = max(1, int(watch.limits.lock_seconds))
    kept = ",".join(mode for mode in modes.split(",") if mode not in _OTHER_SPELLINGS)
    connection.rows(
        f"set session sql_mode = '{kept}', session lock_wait_timeout = {lock}, session {limit}, {_SETTINGS}"
    )
    return _Server(is_mariadb, numbers, database, int(folding) == 1)


def _grants(connection: Connection) -> Grants:
    try:
        return read_grants(str(row[0]) for row in connection.rows("show grants"))
    except CrawlError:
        raise
    except Exception as error:  # noqa: BLE001 - without grants nothing counts as certainly visible
        failure = explain(error, connection.url, connecting=False)
    if failure.code in _ENDS_THE_CRAWL:
        raise failure
    return Grants()


def _read_schema(connection: Connection, schema: str, server: _Server) -> SchemaRows:
    """All rows about one schema, listed first, so that what vanishes meanwhile is noticed."""

    def rows(columns: str, table: str, *, key: str = "table_schema", where: str = "") -> list[Row]:
        statement = f"select {key}, {columns} from information_schema.{table} where {key} = %s {where}"  # noqa: S608
        return [row[1:] for row in connection.rows(statement, (schema,)) if row[0] == schema]

    listed = [
        (str(row[0]), str(row[1])) for row in connection.rows(f"show full tables from {_quoted(schema)}")
    ]
    expression = "expression" if server.has_expression_keys else "null"
    found = SchemaRows(
        schema=schema,
        is_mariadb=server.is_mariadb,
        listed=listed,
        tables={
            row[0]: row
            for row in rows("table_name, engine, create_options, table_comment, table_type", "tables")
        },
        columns=_by_table(
            rows(
                "table_name, ordinal_position, column_name, column_type, is_nullable, column_default, extra, "
                "column_comment, character_set_name, collation_name, generation_expression, data_type",
                "columns",
            )
        ),
        indexes=_by_table(
            rows(
                f"table_name, index_name, seq_in_index, column_name, sub_part, {expression}",
                "statistics",
                where="and non_unique = 0",
            )
        ),
        foreign_columns=_by_table(
            rows(
                "table_name, constraint_name, ordinal_position, column_name, referenced_table_schema, "
                "referenced_table_name, referenced_column_name",
                "key_column_usage",
                where="and referenced_table_name is not null",
            )
        ),
        foreign_rules={
            (row[0], row[1]): (row[2], row[3])
            for row in rows(
                "table_name, constraint_name, update_rule, delete_rule",
                "referential_constraints",
                key="constraint_schema",
            )
        },
    )
    if server.is_mariadb and any(row[11] == "longtext" for own in found.columns.values() for row in own):
        found.checks = {
            (row[0], row[1]): row[2]
            for row in rows(
                "table_name, constraint_name, check_clause", "check_constraints", key="constraint_schema"
            )
        }
    if any("partitioned" in (row[2] or "") for row in found.tables.values()):
        for table, _ in rows(
            "table_name, partition_name", "partitions", where="and partition_name is not null"
        ):
            found.partition_counts[table] += 1
    return found


def _checks_told(connection: Connection, rows: SchemaRows) -> dict[tuple[str, str], str]:
    """The checks that make JSON of longtext, where information_schema hides them: for grants on single tables."""
    found: dict[tuple[str, str], str] = {}
    for table in sorted({row[0] for own in rows.columns.values() for row in own if row[11] == "longtext"}):
        try:
            answer = connection.rows(f"show create table {_quoted(rows.schema)}.{_quoted(table)}")
        except Exception as error:  # without the right to it, the table is told without checks
            failure = explain(error, connection.url, connecting=False)
            if failure.code in _ENDS_THE_CRAWL:
                raise
            continue
        for name, check in _JSON_COLUMN.findall(str(answer[0][1])):
            found[table, name.replace("``", "`")] = check
    return found


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _by_table(rows: list[Row]) -> dict[str, list[Row]]:
    grouped: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    return grouped


def effective_scope(scope: Scope, database: str | None) -> Scope:
    """The scope as it is meant: without named schemas, the database of the URL, where it names one."""
    if database is None or scope.schemas:
        return scope
    if not scope.tables:
        return replace(scope, schemas=(literal(database),))
    tables = (
        text if read_table_pattern(text).schema is not None else f"{literal(database)}.{text.strip()}"
        for text in scope.tables
    )
    return replace(scope, tables=tuple(tables))


def lowered(scope: Scope) -> Scope:
    """The scope for a server that keeps all names of databases and tables in lower case."""
    return Scope(**{key: tuple(map(str.lower, patterns)) for key, patterns in scope.to_dict().items()})


def _is_system(schema: str) -> bool:
    return schema.lower() in _SYSTEM
