"""Bodies of OpenLineage events: each event with the very text it came as."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any

import msgspec
from rest_framework.exceptions import ParseError

from aide.core.api.wire import MAX_DEPTH, JSONParser, check_charset, check_depth, check_texts, load_json
from lineage.merging import Incoming

MOST_EVENTS = 10_000
_PIECES = msgspec.json.Decoder(list[msgspec.Raw])
_WHOLE = msgspec.json.Decoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class TextParser(JSONParser):
    """The body as its bytes; what is in it is read event by event."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        check_charset(media_type or "")
        return stream.read()


def one_event(raw: bytes) -> Incoming:
    """The event that a body is. ParseError where it is no JSON or cannot be stored."""
    try:
        value = load_json(raw)
    except ValueError as error:
        raise ParseError(str(error)) from error
    return Incoming(value, raw.decode("utf-8-sig").strip())


def many_events(raw: bytes) -> list[Incoming]:
    """The events of an array, each with its own piece of the text; one that cannot be stored says what is wrong.

    ParseError where the body is no JSON array.
    """
    return _quickly(raw) or _carefully(raw)


def _quickly(raw: bytes) -> list[Incoming] | None:
    """The same for a body without faults; None where there is anything to say about it."""
    try:
        pieces = _PIECES.decode(raw)
        values = [_WHOLE.decode(piece) for piece in pieces]
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if len(values) > MOST_EVENTS:
        return None
    return [_checked(value, str(piece, "utf-8")) for value, piece in zip(values, pieces, strict=True)]


def _carefully(raw: bytes) -> list[Incoming]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError("The body is not UTF-8 text.") from error
    place = _skip(text, 0)
    if text[place : place + 1] != "[":
        raise ParseError("A batch is a JSON array of events.")
    place = _skip(text, place + 1)
    found: list[Incoming] = []
    if text[place : place + 1] == "]":
        return _ended(text, place, found)
    while True:
        value, end = _value(text, place)
        found.append(_checked(value, text[place:end]))
        if len(found) > MOST_EVENTS:
            raise ParseError(f"At most {MOST_EVENTS} events at once.")
        place = _skip(text, end)
        mark = text[place : place + 1]
        if mark == "]":
            return _ended(text, place, found)
        if mark != ",":
            raise ParseError("The body is not JSON: a comma or the end of the array is missing.")
        place = _skip(text, place + 1)


def _value(text: str, place: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, place)
    except RecursionError as error:
        raise ParseError("The body is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise ParseError(f"The body is not JSON: {error.msg} (line {error.lineno}).") from error
    except ValueError as error:
        raise ParseError(str(error)) from error


def _checked(value: Any, text: str) -> Incoming:
    try:
        if text.count("{") + text.count("[") > MAX_DEPTH:
            check_depth(value)
        if _SUSPECT.search(text):
            check_texts(value)
        if "\x00" in text:
            raise ValueError("The body holds a NUL character.")
    except ValueError as error:
        return Incoming(wrong=str(error))
    return Incoming(value, text)


def _ended(text: str, place: int, found: list[Incoming]) -> list[Incoming]:
    if _skip(text, place + 1) != len(text):
        raise ParseError("The body is not JSON: there is something after the array.")
    return found


def _skip(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return blank.end() if blank is not None else place


def _no_constant(name: str) -> Any:
    raise ValueError(f"The body is not JSON: {name} is no number.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("The body holds a number that is out of range.")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
