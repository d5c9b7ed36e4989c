"""Points in time as seconds since 1970: read from every form that metadata events have ever had. Pure."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

EARLIEST = datetime(1, 1, 2, tzinfo=UTC).timestamp()
LATEST = datetime(9999, 12, 30, tzinfo=UTC).timestamp()
_PACKED_BYTES = 10
_FOLD = 0x80


def seconds(value: Any) -> float:
    """Seconds since 1970 (UTC) of a number, ISO 8601 text, a datetime, or a jsonpickled datetime.

    A datetime without a zone is local time, as everywhere in Python; text and jsonpickled ones without a zone
    are UTC. Raises ValueError, also for what no calendar holds.
    """
    if isinstance(value, bool):
        raise ValueError("a timestamp is a number, a text or a datetime")
    try:
        return _bounded(_read(value))
    except OverflowError:
        raise ValueError("the timestamp is outside of the years 1 to 9999") from None


def _read(value: Any) -> int | float:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, Mapping):
        return unpickled(value).timestamp()
    raise ValueError("a timestamp is a number, a text or a datetime")


def _bounded(value: int | float) -> float:
    number = float(value)
    if not EARLIEST <= number <= LATEST:  # false for NaN too
        raise ValueError("the timestamp is outside of the years 1 to 9999")
    return number


def _from_text(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("the timestamp is neither a number nor ISO 8601") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def unpickled(envelope: Mapping[str, Any]) -> datetime:
    """The datetime in `{"py/object": "datetime.datetime", "__reduce__": [type, [base64, zone?]]}`.

    Its ten bytes are read by hand: year (2), month, day, hour, minute, second, microsecond (3). Nothing is
    unpickled and nothing is looked up by name; any other content is refused with a ValueError.
    """
    if envelope.get("py/object") != "datetime.datetime":
        raise ValueError("only a datetime may come as an object")
    reduced = envelope.get("__reduce__")
    arguments = reduced[1] if isinstance(reduced, list) and len(reduced) == 2 else None
    if isinstance(arguments, Mapping):
        arguments = arguments.get("py/tuple")
    if not isinstance(arguments, list) or not 1 <= len(arguments) <= 2:
        raise ValueError("this datetime cannot be read")
    zone = _zone(arguments[1]) if len(arguments) == 2 else UTC
    packed = _packed(arguments[0])
    year, month = int.from_bytes(packed[:2], "big"), packed[2]
    fold, month = (1, month & ~_FOLD) if month & _FOLD else (0, month)
    day, hour, minute, second = packed[3:7]
    micro = int.from_bytes(packed[7:], "big")
    return datetime(year, month, day, hour, minute, second, micro, tzinfo=zone, fold=fold)


def _packed(text: Any) -> bytes:
    if isinstance(text, Mapping):
        text = text.get("py/b64")
    try:
        packed = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        packed = b""
    if len(packed) != _PACKED_BYTES:
        raise ValueError("this datetime cannot be read")
    return packed


def _zone(value: Any) -> timezone:
    """The zone of `{"py/reduce": [{"py/type": …}, {"py/tuple": [offset]}]}`: seconds, or a timedelta's parts."""
    kind, arguments = _reduced(value)
    short = kind.rpartition(".")[2]
    if short == "TzInfo" and len(arguments) == 1:
        offset = timedelta(seconds=_number(arguments[0]))
    elif kind == "datetime.timezone" and arguments:
        inner, parts = _reduced(arguments[0])
        if inner != "datetime.timedelta" or not 1 <= len(parts) <= 3:
            raise ValueError("this time zone cannot be read")
        days, secs, micros = [*(_number(part) for part in parts), 0, 0][:3]
        offset = timedelta(days=days, seconds=secs, microseconds=micros)
    else:
        raise ValueError("this time zone cannot be read")
    return timezone(offset)


def _reduced(value: Any) -> tuple[str, Sequence[Any]]:
    reduced = value.get("py/reduce") if isinstance(value, Mapping) else None
    if not isinstance(reduced, list) or len(reduced) < 2 or not isinstance(reduced[0], Mapping):
        raise ValueError("this time zone cannot be read")
    arguments = reduced[1].get("py/tuple") if isinstance(reduced[1], Mapping) else reduced[1]
    if not isinstance(arguments, list):
        raise ValueError("this time zone cannot be read")
    return str(reduced[0].get("py/type")), arguments


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("this time zone cannot be read")
    if abs(value) > 1e9:
        raise ValueError("this time zone cannot be read")
    return value
