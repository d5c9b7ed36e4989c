"""Times as events write them: with or without a zone, up to nanoseconds."""

from __future__ import annotations

import datetime as dt
import re

_BRACKETS = re.compile(r"\[[^\]]*\]\Z")
_EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_LATEST = dt.datetime(9000, 1, 1, tzinfo=dt.UTC)
_MILLISECONDS = 100_000_000_000


def read_moment(value: object) -> tuple[dt.datetime, str]:
    """The time in UTC, cut to microseconds, and what is odd about how it was written ("" if nothing).

    ValueError for what is no time between 1970 and 9000.
    """
    odd = ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            seconds = value / 1000 if abs(value) >= _MILLISECONDS else value
            found = dt.datetime.fromtimestamp(seconds, dt.UTC)
        except (OverflowError, OSError, ValueError):
            raise ValueError("It is out of range.") from None
        odd = "eventTime is a number; it was taken for seconds or milliseconds since 1970."
    elif isinstance(value, str):
        text = _BRACKETS.sub("", value.strip())
        try:
            found = dt.datetime.fromisoformat(text.upper().replace(" ", "T", 1) if text else text)
        except ValueError:
            raise ValueError("It is no time in ISO 8601.") from None
        if len(text) != len(value):
            odd = "eventTime has more than a time in ISO 8601."
        if found.tzinfo is None:
            found = found.replace(tzinfo=dt.UTC)
            odd = "eventTime has no zone; it was taken for UTC."
    else:
        raise ValueError("It is missing.")
    try:
        found = found.astimezone(dt.UTC)
    except OverflowError:
        raise ValueError("It is out of range.") from None
    if not _EARLIEST <= found <= _LATEST:
        raise ValueError("It is out of range.")
    return found, odd
