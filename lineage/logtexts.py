"""Events in the texts that the logging service writes, of several lines each. Pure."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

_BEGIN = re.compile(r"\bMetadata:\s*\Z")
_PART = re.compile(r"\s*(Subject|Resource|Action|Timestamp): ?(.*)\Z")
_HEADING = re.compile(r"\s*Additional \w+:\s*\Z")
_VALUE = re.compile(r"(?:\t| {2,})([^:]+): ?(.*)\Z")
AMERICAN = "%m/%d/%Y %H:%M:%S"


def begins(line: str) -> bool:
    """Whether an event's text begins in this line."""
    return bool(_BEGIN.search(line))


def goes_on(line: str) -> bool:
    """Whether this line belongs to the text that began before it."""
    return bool(_PART.match(line) or _HEADING.match(line) or _VALUE.match(line))


def read(lines: list[str]) -> dict[str, Any]:
    """The event of a text, as it travels. A time without a zone is taken for UTC."""
    event: dict[str, Any] = {"additionalValues": {}}
    for line in lines:
        if part := _PART.match(line):
            name, value = part.group(1).lower(), part.group(2)
            event[name] = _time(value) if name == "timestamp" else value
        elif value := _VALUE.match(line):
            event["additionalValues"][value.group(1)] = value.group(2)
    return event


def _time(text: str) -> str:
    try:
        return dt.datetime.strptime(text.strip(), AMERICAN).replace(tzinfo=dt.UTC).isoformat()
    except ValueError:
        return text
