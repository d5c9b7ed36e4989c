"""The quick look at a field or a JSON value that has nothing remarkable; only `checking` uses it.

Whatever may be out of bounds it leaves to the closer look, which finds the words for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 32
MAX_NAME = 1_000
MAX_TEXT = 100_000
MAX_NUMBER = 10**38
_SURROGATE = re.compile("[\ud800-\udfff]")


class UnusualError(Exception):
    """A value that needs the closer look, which also finds words for what is wrong with it."""


def usual_field(value: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the closer look makes of a field without anything remarkable, at a third of its cost; else None."""
    get = value.get
    name, native = get("name"), get("native_type")
    position, key_place, native_position = get("position"), get("primary_key"), get("native_position")
    nullable, hidden = get("nullable"), get("hidden")
    if (
        not (_is_usual(name, MAX_NAME) and _is_usual(native, MAX_TEXT))
        or not (position is None or (position.__class__ is int and 1 <= position < 2**31))
        or not (key_place is None or (key_place.__class__ is int and 1 <= key_place < 2**31))
        or not (native_position is None or (native_position.__class__ is int and 0 < native_position < 2**31))
        or not (nullable is None or nullable.__class__ is bool)
        or not (hidden is None or hidden.__class__ is bool)
    ):  # fmt: skip
        return None
    for key, kind in (("fields", list), ("generated", dict), ("identity", dict)):
        part = get(key)
        if part is not None and (part or part.__class__ is not kind):
            return None
    texts: dict[str, str | None] = {}
    for key, limit in _USUAL_TEXTS:
        text = texts[key] = get(key)
        if text is not None and not _is_usual(text, limit):
            return None
    parameters = get("parameters")
    if parameters is None:
        parameters = {}
    elif parameters.__class__ is not dict:
        return None
    try:
        parameters = usual_json(parameters, 0)
    except UnusualError:
        return None
    out: dict[str, Any] = {
        "name": name,
        "position": position,
        "native_type": native,
        "type_name": texts["type_name"],
        "parameters": parameters,
        "nullable": nullable is not False,
        "default": texts["default"],
        "primary_key": key_place,
        "comment": texts["comment"] or None,
        "generated": None,
        "identity": None,
        "hidden": hidden is True,
    }
    for key in ("type_schema", "type_kind", "on_update"):
        if texts[key] is not None:
            out[key] = texts[key]
    if native_position is not None:
        out["native_position"] = native_position
    return out


_USUAL_TEXTS = (
    ("type_name", MAX_NAME), ("default", MAX_TEXT), ("comment", MAX_TEXT), ("type_schema", MAX_NAME),
    ("type_kind", MAX_NAME), ("on_update", MAX_NAME),
)  # fmt: skip


def _is_usual(value: Any, limit: int) -> bool:
    """Whether it is a text with no `text_problem`."""
    return (
        value.__class__ is str
        and len(value) <= limit
        and "\0" not in value
        and (value.isascii() or not _SURROGATE.search(value))
    )


def usual_json(value: Any, depth: int) -> Any:
    """A copy of plain JSON; raises `UnusualError` for whatever may be out of bounds."""
    kind = value.__class__
    if depth > MAX_DEPTH:
        raise UnusualError
    if kind is str:
        if _is_usual(value, MAX_TEXT):
            return value
    elif value is None or kind is bool or (kind in (int, float) and -MAX_NUMBER <= value <= MAX_NUMBER):
        return value
    elif kind is dict:
        if all(_is_usual(key, MAX_NAME) for key in value):
            return {key: usual_json(inner, depth + 1) for key, inner in value.items()}
    elif kind is list:
        return [usual_json(inner, depth + 1) for inner in value]
    raise UnusualError


def text_problem(value: str, *, limit: int) -> str | None:
    """What is wrong with a text that is to be stored, as a sentence."""
    if len(value) > limit:
        return f"This may be {limit} characters long."
    if "\0" in value:
        return "A NUL character cannot be stored."
    if not value.isascii() and _SURROGATE.search(value):
        return "A lone surrogate is no text."
    return None
