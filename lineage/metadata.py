"""The aiSSEMBLE metadata event as it comes in and goes out. Pure: no I/O, no Django.

Reading is lenient where senders really differ (times as a number, as text or as a pickled object; values of any
kind) and refuses with a reason what cannot be kept as it was meant. Keys that the event does not have are ignored,
as the original model does.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import math
import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_EVENT_ID = 200
MAX_TEXT = 1000
MAX_TEXT_BYTES = 2000
MAX_ACTION = 255
MAX_VALUES = 1000
MAX_KEY = 255
MAX_VALUE = 65_536
MAX_VALUES_SIZE = 1_000_000
EARLIEST = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
LATEST = dt.datetime(9999, 12, 30, tzinfo=dt.UTC)

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FIRST, _LAST = (EARLIEST - _EPOCH).total_seconds(), (LATEST - _EPOCH).total_seconds()
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?\Z")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_PICKLED_LENGTH = 10


@dataclass(frozen=True, slots=True)
class MetadataEvent:
    """One event: `action` was done to `resource` by `subject` at `happened_at` (aware, UTC)."""

    event_id: str
    resource: str
    subject: str
    action: str
    happened_at: dt.datetime
    additional_values: dict[str, str]


class RefusedError(ValueError):
    """An event that cannot be kept as it was meant; `field` is where, the text is the reason for people."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}" if field else reason)


def read(value: Any, *, now: dt.datetime, event_id: str | None = None) -> MetadataEvent:
    """The event in a JSON value. Raises RefusedError.

    Missing or null members take the original's defaults: a new `resource`, empty texts, the time of arrival.
    `event_id` is for events that bring none of their own.
    """
    if not isinstance(value, dict):
        raise RefusedError("", "An event is a JSON object.")
    get = value.get
    resource = _text("resource", get("resource"), MAX_TEXT)
    own_id = get("event_id")
    if own_id is None:
        own_id = event_id or secrets.token_hex(16)
    elif not isinstance(own_id, str) or not own_id.strip():
        raise RefusedError("event_id", "Use a text that is not empty.")
    elif len(own_id) > MAX_EVENT_ID or _UNSTORABLE.search(own_id):
        raise RefusedError("event_id", f"Use plain text of at most {MAX_EVENT_ID} characters.")
    moment = get("timestamp")
    return MetadataEvent(
        own_id,
        uuid.uuid4().hex if resource is None else resource,
        _text("subject", get("subject"), MAX_TEXT) or "",
        _text("action", get("action"), MAX_ACTION) or "",
        now if moment is None else read_time(moment),
        _values(get("additionalValues")),
    )


def read_time(value: Any) -> dt.datetime:
    """A time given as seconds since 1970, as ISO 8601 text (without a zone: UTC), or as a pickled datetime."""
    if isinstance(value, bool):
        raise RefusedError("timestamp", "Use seconds since 1970 or a time in ISO 8601.")
    if isinstance(value, int | float):
        return _from_seconds(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, Mapping):
        return _from_pickled(value)
    raise RefusedError("timestamp", "Use seconds since 1970 or a time in ISO 8601.")


def to_seconds(moment: dt.datetime) -> float:
    """Seconds since 1970 as the wire has them."""
    return (moment - _EPOCH) / dt.timedelta(seconds=1)


def write(event: MetadataEvent) -> dict[str, Any]:
    """The event as it travels: the original's five keys and its id."""
    return {
        "resource": event.resource,
        "subject": event.subject,
        "action": event.action,
        "timestamp": to_seconds(event.happened_at),
        "additionalValues": event.additional_values,
        "event_id": event.event_id,
    }


def _text(field: str, value: Any, longest: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise RefusedError(field, "Use a text.")
    if len(value) > longest:
        raise RefusedError(field, f"At most {longest} characters.")
    if value.isascii():
        if "\x00" not in value:
            return value
    elif not _UNSTORABLE.search(value):
        if len(value.encode()) > MAX_TEXT_BYTES:
            raise RefusedError(field, f"At most {MAX_TEXT_BYTES} bytes in UTF-8.")
        return value
    raise RefusedError(field, "It holds a NUL character or half of a surrogate pair.")


def _values(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise RefusedError("additionalValues", "Use an object of texts.")
    if len(given) > MAX_VALUES:
        raise RefusedError("additionalValues", f"At most {MAX_VALUES} keys.")
    found = {key: value if isinstance(value, str) else _as_text(key, value) for key, value in given.items()}
    everything = "".join([*found, *found.values()])
    if len(everything) > MAX_KEY:  # only then can one of them be too long
        for key, text in found.items():
            if len(key) > MAX_KEY or len(text) > MAX_VALUE:
                where = f"additionalValues.{key[:50]}"
                raise RefusedError(where, f"A key has at most {MAX_KEY}, a value {MAX_VALUE} characters.")
        if len(everything) > MAX_VALUES_SIZE:
            raise RefusedError("additionalValues", f"At most {MAX_VALUES_SIZE} characters in all.")
    if "\x00" in everything or (not everything.isascii() and _UNSTORABLE.search(everything)):
        raise RefusedError("additionalValues", "It holds a NUL character or half of a surrogate pair.")
    return found


def _as_text(key: str, value: Any) -> str:
    """A value that is no text, as its JSON text; null is empty, since the original knows texts only."""
    if value is None:
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedError(f"additionalValues.{key[:50]}", "The number is out of range.")
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise RefusedError(f"additionalValues.{key[:50]}", "The value cannot be written as text.") from error


def _from_seconds(value: float) -> dt.datetime:
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("timestamp", "The number is out of range.")
    if not _FIRST <= value <= _LAST:
        hint = " It looks like milliseconds." if abs(value) <= _LAST * 1000 else ""
        raise RefusedError("timestamp", f"Use seconds since 1970, in the years 1 to 9999.{hint}")
    whole, part = divmod(value, 1)
    return _EPOCH + dt.timedelta(seconds=int(whole), microseconds=round(part * 1_000_000))


def _from_text(text: str) -> dt.datetime:
    if _NUMBER.match(text):
        return _from_seconds(float(text))
    if _ISO.match(text):
        try:
            found = dt.datetime.fromisoformat(text)
            aware = found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found.astimezone(dt.UTC)
        except (ValueError, OverflowError) as error:
            raise RefusedError("timestamp", "This is no time in ISO 8601.") from error
        return _within(aware)
    raise RefusedError("timestamp", "This is neither a number of seconds nor a time in ISO 8601.")


def _from_pickled(value: Mapping[str, Any]) -> dt.datetime:
    """The ten bytes in which Python pickles a datetime, as the original's Kafka service sends them.

    Year (2 bytes), month, day, hour, minute, second, microsecond (3 bytes). They are read by hand: unpickling what
    others sent could run their code. Times are UTC there, whatever zone object stands beside.
    """
    refused = RefusedError("timestamp", "This object is no pickled time that can be read.")
    if value.get("py/object") != "datetime.datetime":
        raise refused
    parts = value.get("__reduce__")
    if not isinstance(parts, list) or len(parts) < 2 or parts[0] != {"py/type": "datetime.datetime"}:
        raise refused
    state = parts[1]
    text = state[0] if isinstance(state, list) and state else None
    if not isinstance(text, str) or len(text) > 40:
        raise refused
    try:
        raw = base64.b64decode(text, validate=True)
        if len(raw) != _PICKLED_LENGTH:
            raise refused
        year, month, day = raw[0] * 256 + raw[1], raw[2] & 0x7F, raw[3]
        micro = int.from_bytes(raw[7:10], "big")
        found = dt.datetime(year, month, day, raw[4], raw[5], raw[6], micro, tzinfo=dt.UTC)
    except (binascii.Error, ValueError) as error:
        raise refused from error
    return _within(found)


def _within(moment: dt.datetime) -> dt.datetime:
    if not EARLIEST <= moment <= LATEST:
        raise RefusedError("timestamp", "Use a time in the years 1 to 9999.")
    return moment
