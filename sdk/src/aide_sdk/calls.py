"""One HTTP call as a value: what to send, whether it may be repeated, how to read the answer. No I/O."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

T = TypeVar("T")

API = "/api/v1"
PACK_FROM = 32 * 1024
"""Bodies of at least so many bytes are sent with gzip."""


class Repeat(Enum):
    """Whether a call may be sent again when its answer did not come or was "later"."""

    SAFE = "safe"
    """It changes nothing, or a second time changes nothing more."""
    KEYED = "keyed"
    """It carries an Idempotency-Key that the server honours."""
    NEVER = "never"
    """Only when it certainly never left us."""


@dataclass(frozen=True)
class Request:
    """What goes over the wire. `path` begins after the server's address."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Call(Generic[T]):
    """An operation, ready to be sent.

    read: makes the result of a successful answer; a ValueError in there means that it was not understood.
    also: statuses outside 2xx that are answers all the same.
    key: the Idempotency-Key; None for a fresh one where it is honoured, empty for none.
    gone_is_done: a repetition that finds nothing any more has succeeded (DELETE).
    """

    read: Callable[[Answer], T]
    at: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Any = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    accept: str = "application/json"
    key: str | None = None
    also: frozenset[int] = frozenset()
    method: str = "GET"
    path: str = ""
    repeat: Repeat = Repeat.NEVER
    gone_is_done: bool = False
    is_open: bool = False

    def placed(self, method: str, path: str, *, repeat: Repeat, is_open: bool) -> Call[T]:
        """The same call with the address of its operation, filled in."""
        filled = path.format(**{name: quote(str(value), safe="") for name, value in self.at.items()})
        key = self.key
        if key is None and repeat is Repeat.KEYED:
            key = uuid.uuid4().hex
        return replace(
            self,
            method=method,
            path=filled,
            repeat=repeat,
            key=key,
            gone_is_done=method == "DELETE",
            is_open=is_open,
        )

    @property
    def about(self) -> str:
        return f"{self.method} {self.path}"

    def request(self) -> Request:
        headers = {"Accept": self.accept}
        if self.key:
            headers["Idempotency-Key"] = self.key
        body = None
        if self.form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = "&".join(f"{quote(name)}={quote(value, safe='')}" for name, value in self.form.items())
            return Request(self.method, self.path, (), headers, body.encode())
        if self.json is not None:
            headers["Content-Type"] = "application/json"
            packed = encode(self.json)
            if len(packed) >= PACK_FROM:
                packed = gzip.compress(packed, compresslevel=3)
                headers["Content-Encoding"] = "gzip"
            return Request(self.method, self.path, flat(self.query), headers, packed)
        return Request(self.method, self.path, flat(self.query), headers, None)


def encode(values: Any) -> bytes:
    """JSON as the API takes it: models as objects, moments as ISO 8601. Refuses NaN and infinities."""
    return json.dumps(values, default=_plain, separators=(",", ":"), allow_nan=False).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset | Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def flat(query: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Query parameters as text: None is left out, lists are joined by commas, `from_` means `from`."""
    return tuple(
        (name.removesuffix("_"), as_text(value)) for name, value in query.items() if value is not None
    )


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return as_text(value.value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(as_text(item) for item in value)
    return str(value)


def given(**values: Any) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def body_of(values: Any, more: Mapping[str, Any]) -> Any:
    """The body of a create or update: a model or mapping, keywords, or both (keywords win)."""
    if values is None:
        return dict(more)
    if isinstance(values, BaseModel):
        values = values.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {**values, **more}


# Readers of answers


def nothing(answer: Answer) -> None:
    """There is no result."""


def text(answer: Answer) -> str:
    return answer.body.decode("utf-8")


def plain(answer: Answer) -> dict[str, Any]:
    """A JSON object, as it is."""
    found = answer.json()
    if not isinstance(found, dict):
        raise ValueError("a JSON object was expected")
    return found
