"""Default values from one flavor in another: literals and "now" go along, everything else is told. Pure.

A default's text is the source's own SQL. What is understood is a literal with or without a cast and brackets, and the
spellings of the present moment; an expression, a sequence or a function of the source stays where it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from registry.typesystem import TypeExpr
from registry.values import (
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Moment,
    Named,
    Text,
    Values,
    Whole,
)

NUMBER, TEXT, BOOLEAN, NOTHING, NOW, TODAY = "number", "text", "boolean", "nothing", "now", "today"
DAY, MOMENT = "day", "moment"
_LONGEST = 2_000
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_TEXT = re.compile(r"N?'((?:[^']|'')*)'", re.DOTALL)
_ESCAPED = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_CAST = re.compile(
    r"(.*?)::\s*[\w.\" ]+(?:\([\d, ]*\))?(?:\s+with(?:out)? time zone)?", re.DOTALL | re.IGNORECASE
)
_NOW = re.compile(
    r"(?:now|current_timestamp|localtimestamp|getdate|sysdatetime|sysutcdatetime|getutcdate|systimestamp|sysdate"
    r"|transaction_timestamp|statement_timestamp)(?:\(\s*\d?\s*\))?",
    re.IGNORECASE,
)
_TODAY = re.compile(r"(?:current_date|curdate)(?:\(\s*\))?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?")
_TRUE, _FALSE = frozenset({"true", "t", "yes", "on", "1"}), frozenset({"false", "f", "no", "off", "0"})


@dataclass(frozen=True)
class Default:
    """A default that was understood: what kind of literal it is, and its plain text."""

    kind: str
    text: str = ""


def read(text: str, *, flavor: str) -> Default | None:
    """What a default says; None where it is not a literal and not the present."""
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    while text.startswith("(") and text.endswith(")") and _is_one(text):
        text = text[1:-1].strip()
    cast = _CAST.fullmatch(text)
    if cast is not None and flavor == "postgresql":
        return read(cast.group(1), flavor=flavor)
    lowered = text.lower()
    if lowered == "null":
        return Default(NOTHING)
    if lowered in ("true", "false"):
        return Default(BOOLEAN, lowered)
    if _NUMBER.fullmatch(text):
        return Default(NUMBER, text)
    literal = (_ESCAPED if flavor in ("mysql", "mariadb", "hive") else _TEXT).fullmatch(text)
    if literal is not None:
        plain = literal.group(1).replace("''", "'")
        return None if "\\" in plain and flavor in ("mysql", "mariadb", "hive") else Default(TEXT, plain)
    if _NOW.fullmatch(text):
        return Default(NOW)
    return Default(TODAY) if _TODAY.fullmatch(text) else None


def _is_one(text: str) -> bool:
    """Whether the first bracket closes with the last character."""
    depth, inside = 0, False
    for place, character in enumerate(text):
        if character == "'":
            inside = not inside
        elif not inside and character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return place == len(text) - 1
    return False


def fitted(default: Default, room: Values | None, target: TypeExpr) -> Default | str:
    """The default as a value of the target's type, or why it cannot be one."""
    if default.kind == NOTHING:
        return default
    if default.kind in (NOW, TODAY):
        return _present(default, room)
    match room:
        case Flag():
            lowered = default.text.lower()
            if lowered in _TRUE | _FALSE:
                return Default(BOOLEAN, "true" if lowered in _TRUE else "false")
        case Whole(low=low, high=high):
            number = _number(default)
            if number is not None and number == int(number):
                fits = (low is None or number >= low) and (high is None or number <= high)
                return Default(NUMBER, str(int(number))) if fits else "it is out of the type's range"
        case Exact(whole=whole):
            number = _number(default)
            if number is not None:
                fits = whole is None or abs(number) < Decimal(10) ** whole
                return Default(NUMBER, _digits(default)) if fits else "it is out of the type's range"
        case Float():
            if _number(default) is not None:
                return Default(NUMBER, _digits(default))
        case Text(length=length):
            fits = length is None or len(default.text.encode()) <= length
            return Default(TEXT, default.text) if fits else "it is longer than the type"
        case Labels(labels=labels):
            if labels is None or default.text in labels:
                return Default(TEXT, default.text)
        case Day():
            if _DATE.fullmatch(default.text) and _is_date(default.text):
                return Default(DAY, default.text)
        case Moment():
            is_day = _DATE.fullmatch(default.text) is not None
            if (is_day or _MOMENT.fullmatch(default.text)) and _is_date(default.text):
                return Default(
                    MOMENT, f"{default.text} 00:00:00" if is_day else default.text.replace("T", " ")
                )
        case Clock():
            if _TIME.fullmatch(default.text):
                return Default(TEXT, default.text)
        case Named(name="uuid" | "json"):
            if default.kind == TEXT:
                return Default(TEXT, default.text)
    return f"it is no value of {target.rendered}"


def _is_date(text: str) -> bool:
    """Whether there is such a day: MySQL knows one in month 0."""
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _present(default: Default, room: Values | None) -> Default | str:
    if isinstance(room, Moment):
        return default
    if isinstance(room, Day):
        return Default(TODAY)
    return "the type holds no moment"


def _number(default: Default) -> Decimal | None:
    """The number, also where the source wrote it as text or as true and false."""
    if default.kind == BOOLEAN:
        return Decimal(default.text == "true")
    return Decimal(default.text) if _NUMBER.fullmatch(default.text) else None


def _digits(default: Default) -> str:
    return default.text if default.kind != BOOLEAN else str(int(default.text == "true"))
