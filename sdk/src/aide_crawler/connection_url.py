"""The parts of a connection URL, read and written just as SQLAlchemy does, without the time that importing it takes.

`aide_crawler.urls` reads and judges; here is only what a URL is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote

if TYPE_CHECKING:
    import sqlalchemy

Query = Mapping[str, str | tuple[str, ...]]
_DEFAULT_DRIVERS = {"sqlite": "pysqlite"}
_SHAPE = re.compile(
    r"(?P<drivername>[\w+]+)://"
    r"(?:(?P<username>[^:/]*)(?::(?P<password>[^@]*))?@)?"
    r"(?:(?:\[(?P<address>[^/?]+)\]|(?P<name>[^/:?]+))?(?::(?P<port>[^/?]*))?)?"
    r"(?:/(?P<database>[^?]*))?"
    r"(?:\?(?P<query>.*))?"
)


@dataclass(frozen=True)
class URL:
    """`driver://user:password@host:port/database?option=value`; no printed form shows the password."""

    drivername: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    host: str | None = None
    port: int | None = None
    database: str | None = None
    query: Query = field(default_factory=dict, repr=False, hash=False)

    @classmethod
    def of(cls, other: sqlalchemy.URL) -> URL:
        """The same URL, from SQLAlchemy's own."""
        return cls(
            other.drivername,
            username=other.username,
            password=other.password,
            host=other.host,
            port=other.port,
            database=other.database,
            query=dict(other.query),
        )

    @classmethod
    def parse(cls, text: str) -> URL:
        """The parts of a text. Raises ValueError, whose words may repeat what is secret."""
        found = _SHAPE.match(text)
        if found is None:
            raise ValueError("It has no driver and no ://.")
        port = found["port"]
        return cls(
            found["drivername"],
            username=_decoded(found["username"]),
            password=_decoded(found["password"]),
            host=found["name"] or found["address"],
            port=None if port is None else int(port),
            database=_decoded(found["database"]),
            query=_options(found["query"] or ""),
        )

    def set(self, **parts: Any) -> URL:
        """The URL with other parts."""
        return replace(self, **parts)

    def get_backend_name(self) -> str:
        """Which kind of database it is."""
        return self.drivername.partition("+")[0]

    def get_driver_name(self) -> str:
        """Which driver is named; the usual one of a kind, where the crawler knows it."""
        return self.drivername.partition("+")[2] or _DEFAULT_DRIVERS.get(self.drivername, "")

    def for_sqlalchemy(self) -> sqlalchemy.URL:
        """The same URL as SQLAlchemy's own."""
        from sqlalchemy import URL as theirs  # noqa: N811 (ours has the name here)

        return theirs.create(
            self.drivername,
            username=self.username,
            password=self.password,
            host=self.host,
            port=self.port,
            database=self.database,
            query=dict(self.query),
        )

    def render_as_string(self, *, hide_password: bool = True) -> str:
        """The URL as text, the password as three stars unless it is asked for."""
        parts = [f"{self.drivername}://"]
        if self.username is not None:
            parts.append(quote(self.username, safe=" +"))
            if self.password is not None:
                parts.append(":***" if hide_password else f":{quote(self.password, safe=' +')}")
            parts.append("@")
        if self.host is not None:
            parts.append(f"[{self.host}]" if ":" in self.host else self.host)
        if self.port is not None:
            parts.append(f":{self.port}")
        if self.database is not None:
            parts.append("/" + quote(self.database, safe=" +/"))
        if self.query:
            pairs = ((key, value) for key in sorted(self.query) for value in _values(self.query[key]))
            parts.append("?" + "&".join(f"{quote_plus(key)}={quote_plus(value)}" for key, value in pairs))
        return "".join(parts)


def _decoded(part: str | None) -> str | None:
    return None if part is None else unquote(part)


def _options(text: str) -> Query:
    """The options of the query; one that is given again has all its values."""
    options: dict[str, str | tuple[str, ...]] = {}
    for key, value in parse_qsl(text):
        options[key] = (*_values(options[key]), value) if key in options else value
    return options


def _values(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
