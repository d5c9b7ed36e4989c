"""Reads a SQLite file, opened read-only, through its pragma table functions in a handful of statements."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aide_crawler.connection_url import URL
from aide_crawler.dialects.connection import Connection
from aide_crawler.dialects.coverage import CoverageNotes
from aide_crawler.dialects.sqlite_beside import BesideConnection, hides_functions
from aide_crawler.dialects.sqlite_ddl import generated_expressions, is_autoincrement
from aide_crawler.dialects.sqlite_keys import Keys, foreign_keys_of, uniques_of
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Progress
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import detail_of
from aide_crawler.urls import sqlite_path
from aide_crawler.watch import Watch

Row = tuple[Any, ...]
SCHEMA = "main"
_OLDEST = (3, 37, 0)
_KINDS = {"table": "table", "view": "view", "virtual": "virtual_table"}
_HIDDEN, _VIRTUAL, _STORED = 1, 2, 3
_NO_FILE = ("file is not a database", "encrypted", "unable to open", "malformed", "disk i/o", "readonly")
_NO_BYTES = "The file is empty (0 bytes), so it holds no database yet, or no longer."
_CHECK_EVERY = 200
_COLUMNS = 'p.cid, p.name, p.type, p."notnull", p.dflt_value, p.pk, p.hidden'
_LIST = "pragma_table_list l where l.schema = 'main' and l.name not like 'sqlite\\_%' escape '\\'"


def read(url: URL, scope: Scope, watch: Watch) -> Snapshot:
    """The snapshot of a SQLite file; raises CrawlError, and never makes a file."""
    path = sqlite_path(url)
    if sqlite3.sqlite_version_info < _OLDEST:
        raise CrawlError("missing_driver", "Reading SQLite files needs SQLite 3.37 or newer in Python.")
    failure: CrawlError
    try:
        return _read_file(path, url, scope, watch)
    except sqlite3.Error as error:
        failure = _explain(error, path)
    raise failure


def _read_file(path: Path, url: URL, scope: Scope, watch: Watch) -> Snapshot:
    connection = _open(path, url, watch)
    try:
        try:
            return _look(connection, path, scope)
        except sqlite3.OperationalError as error:
            if "decode" not in str(error).lower():
                raise
        connection.raw.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        connection.raw.rollback()
        return _look(connection, path, scope)
    finally:
        connection.close()


def _open(path: Path, url: URL, watch: Watch) -> Connection:
    location = f"file:{quote(str(path))}?mode=ro"
    connection = Connection(_connect(location, watch), url, watch)
    try:
        connection.rows("select count(*) from sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        log = path.with_name(path.name + "-wal")
        unopened = "unable to open" in str(error) or "readonly" in str(error)
        if not unopened or (log.exists() and log.stat().st_size):
            raise
        # A file in WAL mode in a folder that cannot be written to, with nothing left in its log.
        location += "&immutable=1"
        connection = Connection(_connect(location, watch), url, watch)
    if hides_functions(connection):
        encoding = str(connection.rows("pragma encoding")[0][0])
        connection.close()
        connection = BesideConnection(_connect(":memory:", watch), url, watch)
        connection.attach(location, encoding)
    watch.interrupt = connection.raw.interrupt
    return connection


def _connect(location: str, watch: Watch) -> sqlite3.Connection:
    return sqlite3.connect(
        location, uri=True, timeout=watch.limits.lock_seconds, check_same_thread=False, isolation_level=None
    )


def _look(connection: Connection, path: Path, scope: Scope) -> Snapshot:
    notes = CoverageNotes()
    connection.rows("begin")
    notes.missing_schemas(scope, {SCHEMA}, is_system=lambda name: name in ("temp", "temporary"))
    datasets: list[dict[str, Any]] = []
    if scope.covers_schema(SCHEMA) and not path.stat().st_size:  # SQLite itself takes it for a new database
        notes.schema(SCHEMA, failed=_NO_BYTES)
    elif scope.covers_schema(SCHEMA):
        notes.schema(SCHEMA)
        datasets = _datasets(connection, scope, notes)
    total = len(datasets)
    connection.watch.progress(Progress(None, None, 1, 1, total, total), important=True)
    return Snapshot("sqlite", str(path), scope, tuple(datasets), notes.coverage(total))


def _datasets(connection: Connection, scope: Scope, notes: CoverageNotes) -> list[dict[str, Any]]:
    watch = connection.watch
    tables = {
        row[0]: row
        for row in connection.rows(f"select l.name, l.type, l.ncol, l.wr, l.strict from {_LIST}")  # noqa: S608
        if row[1] in _KINDS and scope.covers(SCHEMA, row[0])
    }
    definitions = dict(connection.rows("select name, sql from sqlite_master where type in ('table', 'view')"))
    columns = _columns(connection, tables)
    indexes = _grouped(
        connection.rows(
            "select l.name, i.name, i.origin, i.partial, x.seqno, x.cid, x.name, m.sql "
            "from pragma_table_list l, pragma_index_list(l.name, 'main') i, "
            "pragma_index_xinfo(i.name, 'main') x left join sqlite_master m "
            "on m.type = 'index' and m.name = i.name "
            "where l.schema = 'main' and l.type = 'table' and i.\"unique\" and x.key"
        )
    )
    foreign = _grouped(
        connection.rows(
            'select l.name, f.id, f.seq, f."table", f."from", f."to", f.on_update, f.on_delete '
            "from pragma_table_list l, pragma_foreign_key_list(l.name, 'main') f "
            "where l.schema = 'main' and l.type = 'table'"
        )
    )
    keys = _primary_keys(
        columns, {each.lower() for rows in foreign.values() for row in rows for each in (row[0], row[3])}
    )
    datasets = []
    for index, name in enumerate(sorted(tables)):
        if index % _CHECK_EVERY == 0:
            watch.check()
        watch.progress(Progress(SCHEMA, name, 0, 1, index, len(tables)))
        notes.listed += 1
        found = columns.get(name)
        if found is None or isinstance(found, str):
            datasets += _without_fields(tables[name], found, notes)
            continue
        datasets.append(
            _dataset(
                tables[name],
                found,
                definition=definitions.get(name) or "",
                indexes=indexes.get(name, []),
                foreign_keys=foreign_keys_of(foreign.get(name, []), keys),
            )
        )
    return datasets


def _columns(connection: Connection, tables: dict[str, Row]) -> dict[str, list[Row] | str]:
    """The columns of each table and view, or why they cannot be had."""
    found: dict[str, list[Row] | str] = {}
    rows = connection.rows(
        f"select l.name, {_COLUMNS} from pragma_table_list l, pragma_table_xinfo(l.name, 'main') p "  # noqa: S608
        "where l.schema = 'main' and l.ncol > 0 and l.type <> 'shadow'"
    )
    found.update(_grouped(rows))
    for name in tables.keys() - found.keys():
        try:
            alone = connection.rows(
                f"select ?, {_COLUMNS} from pragma_table_xinfo(?, 'main') p",  # noqa: S608
                (name, name),
            )
            found[name] = alone or "It has no columns."
        except sqlite3.OperationalError as error:
            found[name] = detail_of(error, ())
    return found


def _without_fields(table: Row, reason: str | None, notes: CoverageNotes) -> list[dict[str, Any]]:
    """A view whose tables are gone is a view all the same; anything else could not be read."""
    name, kind = table[:2]
    if kind == "view":
        notes.skip(SCHEMA, name, f"The view does not work: {reason}.")
        return [_document(name, "view", attributes={"broken": True}, fields=[])]
    notes.fail(SCHEMA, name, f"Its columns cannot be read: {reason}.")
    return []


def _dataset(
    table: Row, columns: list[Row], *, definition: str, indexes: list[Row], foreign_keys: list[dict[str, Any]]
) -> dict[str, Any]:
    name, kind, _, without_rowid, strict = table
    columns.sort(key=lambda row: row[1])
    attributes = {key: True for key, on in (("without_rowid", without_rowid), ("strict", strict)) if on}
    keys = [row[2] for row in sorted((row for row in columns if row[6]), key=lambda row: row[6])]
    alias = None
    if len(keys) == 1 and not without_rowid and kind == "table":
        only = next(row for row in columns if row[6])
        has_index = any(index[2] == "pk" for index in indexes)
        if only[3].upper() == "INTEGER" and not has_index:
            alias = "autoincrement" if is_autoincrement(definition) else "rowid_alias"
    expressions = (
        generated_expressions(definition) if any(row[7] in (_VIRTUAL, _STORED) for row in columns) else {}
    )
    key_is_required = bool(without_rowid or strict)
    return _document(
        name,
        _KINDS[kind],
        attributes=attributes,
        fields=[
            _field(
                row,
                position,
                identity=alias if row[6] else None,
                key_is_required=key_is_required,
                strict=bool(strict),
                expression=expressions.get(row[2].lower()) if expressions else None,
            )
            for position, row in enumerate(columns, 1)
        ],
        primary_key={"name": None, "columns": keys} if keys else None,
        unique=uniques_of(indexes),
        foreign_keys=foreign_keys,
    )


def _document(
    name: str,
    kind: str,
    *,
    attributes: dict[str, Any],
    fields: list[dict[str, Any]],
    primary_key: dict[str, Any] | None = None,
    unique: list[dict[str, Any]] | None = None,
    foreign_keys: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "name": name,
        "kind": kind,
        "comment": None,
        "attributes": attributes,
        "fields": fields,
        "primary_key": primary_key,
        "unique": unique or [],
        "foreign_keys": foreign_keys or [],
    }


def _field(
    row: Row,
    position: int,
    *,
    identity: str | None,
    key_is_required: bool,
    strict: bool,
    expression: str | None,
) -> dict[str, Any]:
    _, _, name, declared, not_null, default, key_place, hidden = row
    generated = hidden in (_VIRTUAL, _STORED)
    type_name, parameters = _type(declared or "", strict=strict)
    return {
        "name": name,
        "position": position,
        "native_type": declared or "",
        "type_name": type_name,
        "parameters": parameters,
        "nullable": not (not_null or identity or (key_place and key_is_required)),
        "default": None if generated else default,
        "primary_key": key_place or None,
        "comment": None,
        "generated": {"kind": "stored" if hidden == _STORED else "virtual", "expression": expression}
        if generated
        else None,
        "identity": {"kind": identity} if identity else None,
        "hidden": hidden == _HIDDEN,
    }


@lru_cache(maxsize=4096)
def _type(declared: str, *, strict: bool) -> tuple[str, dict[str, Any]]:
    """The declared type without its arguments, and its affinity with the arguments that are whole numbers."""
    match = re.search(r"\(([^()]*)\)", declared)
    bare = declared
    parameters: dict[str, Any] = {"affinity": _affinity(declared, strict=strict)}
    start, end = declared.find("("), declared.rfind(")")
    if 0 <= start < end:
        bare = " ".join((declared[:start] + " " + declared[end + 1 :]).split())
        parts = [part.strip() for part in match[1].split(",")] if match else []
        if parts and all(re.fullmatch(r"[+-]?\s*[0-9]{1,18}", part) for part in parts):
            parameters["arguments"] = [int("".join(part.split())) for part in parts]
    return bare, parameters


def _affinity(declared: str, *, strict: bool) -> str:
    """The rules of https://www.sqlite.org/datatype3.html, section 3.1, in their order."""
    text = declared.upper()
    if strict and text == "ANY":
        return "NONE"
    if "INT" in text:
        return "INTEGER"
    if "CHAR" in text or "CLOB" in text or "TEXT" in text:
        return "TEXT"
    if "BLOB" in text or not text.strip():
        return "BLOB"
    if "REAL" in text or "FLOA" in text or "DOUB" in text:
        return "REAL"
    return "NUMERIC"


def _primary_keys(columns: dict[str, list[Row] | str], wanted: set[str]) -> Keys:
    """By wanted table's name in lower case: the exact name, the key's columns, the columns by lower-case name."""
    found: dict[str, tuple[str, list[str], dict[str, str]]] = {}
    for table, rows in columns.items():
        if table.lower() in wanted and not isinstance(rows, str):
            key = [row[2] for row in sorted((row for row in rows if row[6]), key=lambda row: row[6])]
            found[table.lower()] = (table, key, {row[2].lower(): row[2] for row in rows})
    return found


def _grouped(rows: list[Row]) -> dict[str, list[Row]]:
    grouped: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    return grouped


def _explain(error: sqlite3.Error, path: Path) -> CrawlError:
    text = str(error).lower()
    if "locked" in text or "busy" in text:
        return CrawlError("timeout", f"The SQLite file {path} is locked by another program.")
    if "not a database" in text or "encrypted" in text:
        return CrawlError("open_failed", f"{path} is not a SQLite database, or it is encrypted.")
    if any(sign in text for sign in _NO_FILE):
        return CrawlError("open_failed", f"The SQLite file {path} cannot be read: {detail_of(error, ())}.")
    return CrawlError("failed", f"Reading the SQLite file {path} failed: {detail_of(error, ())}.")
