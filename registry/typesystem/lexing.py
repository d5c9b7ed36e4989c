"""Cuts the native spelling of a type into name, arguments and trailing words. Pure; used by the parsers only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

LONGEST = 1_000_000

_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>'(?:[^'\\]|''|\\.)*')
      | (?P<plain>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
      | (?P<number>[+-]?\s*\d+(?:\.\d+)?(?![\w$]))
      | (?P<word>[\w$]+)
      | (?P<mark>[(),.\[\]=:<>])
    )""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED_PART = re.compile(r"''|\\(.)", re.DOTALL)
_PLAIN_STRING = re.compile(r"\s*('(?:[^']|'')*')", re.DOTALL)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


class Token(NamedTuple):
    """A piece of a spelling; `text` is unquoted, `raw` as it was written."""

    kind: str
    text: str
    raw: str


@dataclass(frozen=True)
class Shape:
    """`name(arguments) tail`, with the tail's words after the closing bracket."""

    name: tuple[Token, ...]
    arguments: tuple[tuple[Token, ...], ...] | None
    tail: tuple[Token, ...]

    @property
    def words(self) -> str:
        """Name and tail without the arguments, folded: `timestamp with time zone`."""
        return " ".join(token.text.lower() for token in (*self.name, *self.tail))

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """The arguments when every one is a whole number of a usual size, else None."""
        numbers: list[int] = []
        for argument in self.arguments or ():
            if len(argument) != 1 or argument[0].kind != "number" or "." in argument[0].text:
                return None
            number = whole(argument[0].text)
            if number is None:
                return None
            numbers.append(number)
        return tuple(numbers)


def whole(text: str) -> int | None:
    """The whole number that a text is; None for any other text and for more than 18 digits."""
    return int(text) if _WHOLE.fullmatch(text) else None


def tokens(text: str, *, backslash: bool = False) -> tuple[Token, ...] | None:
    """The pieces of a spelling, comments left out; None when some part cannot be read."""
    if len(text) > LONGEST:
        return None
    if "/*" in text or "--" in text:
        text = _strip_comments(text)
    found: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        kind = match.lastgroup or ""
        raw = match.group(kind)
        if kind in ("string", "plain"):
            if not backslash and kind == "string" and "\\" in raw:
                match = _PLAIN_STRING.match(text, place)
                if match is None:
                    return None
                raw = match.group(1)
            found.append(Token("string", unquote(raw, backslash=backslash), raw))
        elif kind == "quoted":
            mark = raw[0]
            found.append(Token("quoted", raw[1:-1].replace(mark * 2, mark), raw))
        elif kind == "number":
            found.append(Token("number", "".join(raw.split()), raw))
        else:
            found.append(Token(kind, raw, raw))
        place = match.end()
    return tuple(found)


def unquote(raw: str, *, backslash: bool = False) -> str:
    """The value of a quoted SQL string."""
    if not backslash:
        return raw[1:-1].replace("''", "'")
    return _QUOTED_PART.sub(_unescape, raw[1:-1])


def _unescape(match: re.Match[str]) -> str:
    escaped = match.group(1)
    return "'" if escaped is None else _ESCAPES.get(escaped, escaped)


def shape(pieces: tuple[Token, ...]) -> Shape | None:
    """Name, arguments and tail; None for brackets that do not close or come twice."""
    opening = next((n for n, token in enumerate(pieces) if token.raw == "("), None)
    if opening is None:
        return Shape(pieces, None, ()) if all(token.raw != ")" for token in pieces) else None
    depth = 0
    current: list[Token] = []
    arguments: list[tuple[Token, ...]] = []
    for n in range(opening, len(pieces)):
        token = pieces[n]
        if token.raw == "(":
            depth += 1
            if depth == 1:
                continue
        elif token.raw == ")":
            depth -= 1
            if depth == 0:
                if current or arguments:
                    arguments.append(tuple(current))
                tail = pieces[n + 1 :]
                if any(rest.raw in ("(", ")") for rest in tail):
                    return None
                return Shape(pieces[:opening], tuple(arguments), tail)
        elif token.raw == "," and depth == 1:
            arguments.append(tuple(current))
            current = []
            continue
        current.append(token)
    return None


def _strip_comments(text: str) -> str:
    parts = re.split(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")", text)
    return "".join(part if n % 2 else _COMMENT.sub(" ", part) for n, part in enumerate(parts))
