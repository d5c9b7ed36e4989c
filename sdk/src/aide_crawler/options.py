"""Which options the query of a connection URL may hold: none that runs SQL or touches this machine's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from aide_crawler.connection_url import URL
from aide_crawler.errors import CrawlError

_FLAGS = frozenset({"true", "false", "1", "0", "yes", "no", "on", "off"})
_TRUE = frozenset({"true", "1", "yes", "on"})
_MYSQL_FLAGS = ("ssl_disabled", "ssl_verify_cert", "ssl_verify_identity", "ssl_check_hostname")
_Check = tuple[Callable[[str], bool], str]


def _one_of(*words: str) -> _Check:
    return (lambda value: value in words), f"it is one of {', '.join(words)}"


_SECONDS: _Check = (lambda value: re.fullmatch(r"[0-9]{1,6}", value) is not None), "it is a number of seconds"
_FLAG: _Check = (lambda value: value.lower() in _FLAGS), "it is true or false"
_TEXT: _Check = (lambda value: len(value) <= 1000 and "\0" not in value), "it is a short text"

_POSTGRESQL: Mapping[str, _Check] = {
    "sslmode": _one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "sslrootcert": _one_of("system"),
    "channel_binding": _one_of("disable", "prefer", "require"),
    "target_session_attrs": _one_of("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
    "connect_timeout": _SECONDS,
    "application_name": _TEXT,
    "password": _TEXT,
}
_MYSQL: Mapping[str, _Check] = {
    "charset": _one_of("utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "binary"),
    "connect_timeout": _SECONDS,
    "password": _TEXT,
    "passwd": _TEXT,
    **dict.fromkeys(_MYSQL_FLAGS, _FLAG),
}
_ALLOWED: Mapping[str, Mapping[str, _Check]] = {
    "postgresql": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": {},
}
_DANGEROUS = re.compile(
    "file|path|plugin|socket|wallet|attach|command|script|infile|configdir|library|sslkey|sslcert|sslca|"
    "initsql|initialsql|initstmt|onconnect|creator|^service$|^options$|^startupparams$|^setup$"
)


def check_options(url: URL) -> None:
    """Refuse an option that is not for connection URLs. Raises CrawlError bad_url, which names no value."""
    dialect = url.get_backend_name()
    allowed = _ALLOWED.get(dialect)
    for option, value in url.query.items():
        if allowed is None:
            _check_any(option, value)
        elif option not in allowed:
            known = f"; allowed are {', '.join(allowed)}" if allowed else ""
            raise CrawlError(
                "bad_url", f"The option {_short(option)} is not allowed in a {dialect} URL{known}."
            )
        elif not isinstance(value, str) or not allowed[option][0](value):
            raise CrawlError(
                "bad_url", f"The option {option} of the connection URL cannot be used: {allowed[option][1]}."
            )


def as_flags(arguments: dict[str, object]) -> None:
    """Make booleans of the flags that a MySQL driver would take for true whatever their text is."""
    for name in _MYSQL_FLAGS:
        value = arguments.get(name)
        if isinstance(value, str):
            arguments[name] = value.lower() in _TRUE


def _check_any(option: str, value: str | tuple[str, ...]) -> None:
    """Any option of a dialect whose options are not known here, but for those that reach too far."""
    name = re.sub(r"[^a-z0-9]", "", option.lower())
    texts = [value] if isinstance(value, str) else list(value)
    refused = _DANGEROUS.search(name) is not None
    if name == "driver":
        refused = refused or any(re.search(r"[/\\]", text) for text in texts)
    if refused:
        raise CrawlError("bad_url", f"The option {_short(option)} is not allowed in a connection URL.")
    if name == "odbcconnect":
        for text in texts:
            for part in text.split(";"):
                inner, _, given = part.partition("=")
                _check_any(inner.strip(), given)


def _short(option: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in option[:60])
