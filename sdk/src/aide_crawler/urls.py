"""Connection URLs: which driver, which secrets, and how to name the source without any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from aide_crawler.connection_url import URL
from aide_crawler.errors import CrawlError

if TYPE_CHECKING:
    import sqlalchemy

SHIPPED_DRIVERS = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
_SECRET_KEYS = frozenset(
    {"password", "passwd", "pwd", "pass", "passphrase", "sslpassword", "ssl_key_password", "token", "secret"}
)
_SECRET_KEYS_WITHIN = ("password", "passwd", "pwd", "secret", "token", "api_key", "apikey", "private_key")
_UNREADABLE = (
    "The connection URL cannot be read; write it as dialect://user@host:port/database, "
    "with special characters in the user name and the password percent-encoded."
)
HIDDEN = "***"
_HIGHEST_PORT = 65535
_SHORT = 4


def read_url(url: str | URL | sqlalchemy.URL) -> URL:
    """The URL with its driver chosen; raises CrawlError bad_url, which repeats nothing of the URL."""
    parsed: URL | None = None
    if isinstance(url, URL):
        parsed = url
    elif isinstance(url, str) and _is_unambiguous(url.strip()):
        try:
            parsed = URL.parse(url.strip())
        except ValueError:
            parsed = None
    elif not isinstance(url, str) and hasattr(url, "drivername"):
        parsed = URL.of(url)
    if parsed is None or not parsed.drivername or not 0 < (parsed.port or 1) <= _HIGHEST_PORT:
        raise CrawlError("bad_url", _UNREADABLE)
    if parsed.drivername.startswith("postgres+"):
        return parsed.set(drivername="postgresql" + parsed.drivername.removeprefix("postgres"))
    return parsed.set(drivername=SHIPPED_DRIVERS.get(parsed.drivername, parsed.drivername))


def with_password(url: str | URL | sqlalchemy.URL, password: str | None) -> URL:
    """The URL with the password put in; None leaves it as it is."""
    parsed = read_url(url)
    return parsed if password is None else parsed.set(password=password)


def has_password(url: str | URL | sqlalchemy.URL) -> bool:
    """Whether the URL holds a password, as such or in its query; raises CrawlError bad_url."""
    return bool(secrets_of(read_url(url)))


def secrets_of(url: URL) -> tuple[str, ...]:
    """Every secret value in the URL, longest first."""
    found = {str(url.password)} if url.password else set()
    for key, value in url.query.items():
        name = key.lower()
        if name in _SECRET_KEYS or any(part in name for part in _SECRET_KEYS_WITHIN):
            found.update([value] if isinstance(value, str) else value)
        for text in [value] if isinstance(value, str) else value:
            found.update(_secrets_within(text))
    return tuple(sorted(filter(None, found), key=len, reverse=True))


def safe_url(url: str | URL | sqlalchemy.URL) -> str:
    """The URL as text for people, without its secrets."""
    parsed = read_url(url)
    query = {
        key: value for key, value in parsed.query.items() if not secrets_of(URL("any", query={key: value}))
    }
    return URL(
        parsed.drivername,
        username=parsed.username,
        password=HIDDEN if parsed.password else None,
        host=parsed.host,
        port=parsed.port,
        database=parsed.database,
        query=query,
    ).render_as_string(hide_password=True)


def redact(text: str, secrets: Iterable[str | None]) -> str:
    """The text with every secret replaced, also where it is percent-encoded or escaped."""
    spellings: set[str] = set()
    for secret in secrets:
        if not secret:
            continue
        spellings |= {
            secret,
            quote(secret),
            quote(secret, safe=""),
            quote_plus(secret),
            unquote(secret),
            repr(secret)[1:-1],
            secret.encode("unicode_escape").decode("ascii"),
            secret.replace("'", "''"),
            secret.replace("\\", "\\\\").replace('"', '\\"'),
        }
    for spelling in sorted(filter(None, spellings), key=len, reverse=True):
        if len(spelling) >= _SHORT:
            text = text.replace(spelling, HIDDEN)
        else:  # as part of other words it would hide, and give away, too much
            text = re.sub(rf"(?<!\w){re.escape(spelling)}(?!\w)", HIDDEN, text)
    return text


def place_of(url: URL) -> str:
    """`host:port`, or what stands for it, to name the server in a sentence."""
    default = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}.get(url.get_backend_name())
    host = url.host or _first(url.query.get("host")) or "localhost"
    port = url.port or default
    if host.startswith("/"):
        return host
    return f"{host}:{port}" if port else host


def sqlite_path(url: URL) -> Path:
    """The file of a SQLite URL; raises CrawlError where the path is missing, relative, or no file."""
    database = url.database or ""
    if database in ("", ":memory:") or database.startswith("file:"):
        raise CrawlError(
            "bad_url", "A SQLite URL must name a file, as in sqlite:////absolute/path/to/file.db."
        )
    path = Path(database)
    if not path.is_absolute():
        raise CrawlError(
            "bad_url",
            f"The SQLite path {database} is relative; write four slashes and the whole path, "
            "as in sqlite:////absolute/path/to/file.db.",
        )
    try:
        exists, is_file = path.exists(), path.is_file()
    except (OSError, ValueError):
        exists = is_file = False
    if not exists:
        raise CrawlError("open_failed", f"There is no file {database}.")
    if not is_file:
        raise CrawlError("open_failed", f"{database} is not a file.")
    return path


def _is_unambiguous(text: str) -> bool:
    """Whether it is certain where the password ends, so that no part of it is taken for a host."""
    scheme, separator, rest = text.partition("://")
    if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+.-]*", scheme):
        return False
    if scheme.partition("+")[0] == "sqlite":
        return True
    return rest.count("@") <= 1


def _secrets_within(text: str) -> list[str]:
    """Passwords in a nested connection text, as `odbc_connect=…;PWD=secret;` has them."""
    return re.findall(r"(?i)(?:password|passwd|pwd)\s*=\s*([^;\s]+)", text)


def _first(value: str | tuple[str, ...] | None) -> str | None:
    return value if isinstance(value, str) or value is None else next(iter(value), None)
