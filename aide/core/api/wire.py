"""Bodies in and out: strict JSON that can be stored, and nothing that makes a server stumble."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import IO, Any

from rest_framework import parsers, renderers
from rest_framework.exceptions import ParseError, UnsupportedMediaType
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

MAX_DEPTH = 100
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Negotiation(DefaultContentNegotiation):
    """An empty Accept header takes anything, and whoever takes problems takes JSON."""

    def get_accept_list(self, request: Request) -> list[str]:
        header = request.META.get("HTTP_ACCEPT", "").strip() or "*/*"
        listed = [part.strip() for part in header.split(",")]
        return [
            "application/json" if part.startswith("application/problem+json") else part for part in listed
        ]


class JSONRenderer(renderers.JSONRenderer):
    """JSON in UTF-8."""

    charset = None


class JSONParser(parsers.JSONParser):
    """JSON in UTF-8 without NUL, lone surrogates, endless numbers or a nesting of more than 100 levels."""

    def load(self, raw: bytes) -> Any:
        return load_json(raw)

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        check_charset(media_type or "")
        raw = stream.read()
        try:
            return self.load(raw)
        except ValueError as error:
            raise ParseError(str(error)) from error


def load_json(raw: bytes, *, read_float: Callable[[str], float] | None = None) -> Any:
    """The value of a JSON text; ValueError with a plain sentence for anything that must not come in.

    `read_float` reads numbers with a point or an exponent where one that is out of range shall not refuse all.
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("The body is not UTF-8 text.") from error
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=read_float or _finite)
    except RecursionError as error:
        raise ValueError("The body is nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"The body is not JSON: {error.msg} (line {error.lineno}).") from error
    check_depth(value)
    if _SUSPECT.search(raw):
        check_texts(value)
    return value


def check_depth(value: Any) -> None:
    """Refuses nesting beyond `MAX_DEPTH`, without recursion of our own."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise ValueError("The body is nested too deeply.")


def check_texts(value: Any) -> None:
    """Refuses NUL characters and lone surrogates in any text, keys included."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            if not storable(item):
                raise ValueError("The body holds a NUL character or half of a surrogate pair.")
        elif isinstance(item, dict):
            todo += item.keys()
            todo += item.values()
        elif isinstance(item, list):
            todo += item


def storable(text: str) -> bool:
    """Whether a database can store the text."""
    return "\x00" not in text and not _SURROGATE.search(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"The body is not JSON: {name} is no number.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("The body holds a number that is out of range.")
    return number


def check_charset(media_type: str) -> None:
    found = re.search(r"charset\s*=\s*\"?([^;\"\s]+)", media_type, re.IGNORECASE)
    if not found:
        return
    try:
        name = codecs.lookup(found.group(1)).name
    except (LookupError, ValueError):
        name = ""
    if name not in {"utf-8", "ascii", "utf-8-sig"}:
        raise UnsupportedMediaType(media_type[:100], "Bodies are JSON in UTF-8.")
