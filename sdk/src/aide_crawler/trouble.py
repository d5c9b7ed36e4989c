"""Turns what drivers raise into CrawlErrors: one plain sentence, without anything that could leak."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from aide_crawler.connection_url import URL
from aide_crawler.errors import CrawlError
from aide_crawler.urls import place_of, redact, secrets_of

_LONGEST_DETAIL = 200
_MYSQL_CODES = {
    1045: "auth_failed",
    1698: "auth_failed",
    1251: "auth_failed",
    2059: "auth_failed",
    1044: "denied",
    1130: "denied",
    1142: "denied",
    1143: "denied",
    1227: "denied",
    1049: "no_such_database",
    1205: "locked",
    1969: "timeout_statement",
    3024: "timeout_statement",
    2026: "tls_failed",
    3159: "tls_failed",
    2006: "connection_lost",
    2013: "connection_lost",
    2055: "connection_lost",
    1927: "connection_lost",
    1053: "connection_lost",
}
_SQLSTATES = {
    "28000": "auth_failed",
    "28P01": "auth_failed",
    "3D000": "no_such_database",
    "42501": "denied",
    "57014": "timeout_statement",
    "55P03": "locked",
    "57P01": "connection_lost",
    "57P02": "connection_lost",
    "57P03": "connection_lost",
    "25P03": "connection_lost",
    "08006": "connection_lost",
    "08003": "connection_lost",
    "08000": "connection_lost",
    "08001": "connection_lost",
}
# In this order: the first text that is found decides.
_TEXTS: tuple[tuple[str, str], ...] = (
    (
        r"database .* does not exist|unknown database|no such database|cannot open database",
        "no_such_database",
    ),
    (
        r"password authentication failed|authentication failed|no password supplied|login failed"
        r"|access denied for user|role .* does not exist|invalid username/password|ora-01017|pg_hba\.conf",
        "auth_failed",
    ),
    (
        r"name or service not known|could not translate host name|failed to resolve host"
        r"|nodename nor servname|temporary failure in name resolution|getaddrinfo"
        r"|no address associated|name does not resolve"
        r"|label (empty|too long)",
        "unknown_host",
    ),
    (r"invalid response to ssl negotiation|received invalid response", "not_this_kind"),
    (r"invalid connection option|unexpected keyword argument|invalid port|port must be", "bad_url"),
    (r"connection refused|actively refused|errno 111\b|no such file or directory", "refused"),
    (r"timed? ?out|timeout expired|timeout", "timeout"),
    (r"does not support ssl|ssl is required|certificate|ssl error|tls|sslmode|\bssl\b", "tls_failed"),
    (r"no route to host|network is unreachable|host is down", "refused"),
    (
        r"server closed the connection|connection reset|broken pipe|lost connection|connection is closed"
        r"|connection already closed|terminating connection|consuming input failed|gone away"
        r"|the connection is lost|eof detected",
        "connection_lost",
    ),
    (r"permission denied|insufficient privilege|access denied", "denied"),
)


def explain(error: BaseException, url: URL, *, connecting: bool, secrets: Iterable[str] = ()) -> CrawlError:
    """The CrawlError of any exception that a driver, SQLAlchemy or the system raised.

    `connecting` tells whether the connection stood already: the same text means another thing then.
    """
    if isinstance(error, CrawlError):
        return error
    hidden = (*secrets_of(url), *secrets)
    if missing := _missing_driver(error, url):
        return missing
    if (original := _of_driver(error)) is not None:
        error = original
    code = _code(error, connecting=connecting)
    sentence = redact(_sentence(code, error, url, hidden, connecting=connecting), hidden)
    return CrawlError("failed" if code == "not_this_kind" else code, sentence)


def is_lock_timeout(error: BaseException) -> bool:
    """Whether the statement ended because another session held a lock."""
    return _native_code(error) == "locked"


def is_catalogue_in_motion(error: BaseException) -> bool:
    """Whether PostgreSQL looked for something that its snapshot still showed and another session had dropped."""
    sqlstate = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return sqlstate == "XX000" and "cache lookup failed" in str(error)


def detail_of(error: BaseException, secrets: Iterable[str]) -> str:
    """The first line of what the driver said, short and without secrets."""
    arguments: tuple[Any, ...] = getattr(error, "args", ())
    text = str(arguments[1]) if len(arguments) > 1 and isinstance(arguments[0], int) else str(error)
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return redact(first, secrets)[:_LONGEST_DETAIL].rstrip(".")


def _of_driver(error: BaseException) -> BaseException | None:
    """The driver's own exception in one of SQLAlchemy's."""
    exc = sys.modules.get("sqlalchemy.exc")  # without it nothing here was raised by SQLAlchemy
    return error.orig if exc is not None and isinstance(error, exc.DBAPIError) else None


def _missing_driver(error: BaseException, url: URL) -> CrawlError | None:
    dialect = url.get_backend_name()
    exc = sys.modules.get("sqlalchemy.exc")
    if exc is not None and isinstance(error, exc.NoSuchModuleError):
        return CrawlError("missing_driver", f"There is no SQLAlchemy dialect {url.drivername}; install one.")
    if isinstance(error, ModuleNotFoundError):
        return CrawlError(
            "missing_driver",
            f"The driver for {url.drivername} is not installed (the Python package {error.name}).",
        )
    if isinstance(error, RuntimeError) and "cryptography" in str(error):
        return CrawlError(
            "missing_driver",
            f"The {dialect} server at {place_of(url)} asks for a log-in method "
            "that needs the Python package cryptography.",
        )
    return None


def _native_code(error: BaseException) -> str | None:
    sqlstate = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    if sqlstate in _SQLSTATES:
        return _SQLSTATES[sqlstate]
    arguments: tuple[Any, ...] = getattr(error, "args", ())
    if arguments and isinstance(arguments[0], int):
        return _MYSQL_CODES.get(arguments[0])
    return None


def _code(error: BaseException, *, connecting: bool) -> str:
    native = _native_code(error)
    text = str(error).lower()
    if native in ("timeout_statement", "locked"):
        return "timeout"
    if native == "connection_lost" and connecting:
        return "timeout" if "timed out" in text else "refused" if "refused" in text else "connection_lost"
    if native is not None:
        return native
    if isinstance(error, TimeoutError):
        return "timeout"
    if connecting and isinstance(error, FileNotFoundError):
        return "tls_failed"  # certificates are the only files that a driver opens
    if not connecting and isinstance(error, ConnectionError | EOFError):
        return "connection_lost"
    for pattern, code in _TEXTS:
        if re.search(pattern, text):
            if not connecting and code in ("refused", "unknown_host", "no_such_database"):
                continue
            if code in ("bad_url", "not_this_kind") and not connecting:
                continue
            return code
    return "failed"


def _sentence(
    code: str, error: BaseException, url: URL, secrets: tuple[str, ...], *, connecting: bool
) -> str:
    place = place_of(url)
    user = f"user {url.username}" if url.username else "a user without a name"
    database = url.database or "its default database"
    if code == "timeout" and not connecting:
        if _native_code(error) == "locked":
            return f"A lock in the database {database} on {place} was not released in time."
        return f"A statement in the database {database} on {place} took too long and was ended."
    sentences = {
        "auth_failed": f"The server {place} did not accept the log-in of {user}.",
        "no_such_database": f"The server {place} has no database {database}.",
        "unknown_host": f"The host {url.host or place} cannot be found.",
        "refused": f"Nothing accepts connections at {place}.",
        "timeout": f"The server {place} did not answer in time.",
        "tls_failed": f"A TLS connection to {place} could not be made as demanded.",
        "denied": f"The server {place} does not let {user} use the database {database}, or has none of that name.",
        "bad_url": f"The connection URL has an option or a port that the driver of {url.drivername} refuses.",
        "not_this_kind": f"What answers at {place} is not a {url.get_backend_name()} server.",
        "connection_lost": f"The connection to {place} was lost.",
    }
    if code in sentences:
        return sentences[code]
    doing = (
        f"Connecting to {place} failed"
        if connecting
        else f"Reading the database {database} on {place} failed"
    )
    return f"{doing}: {detail_of(error, secrets)}."
