"""MySQL and MariaDB column types: from the server's spelling to name and declared parameters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_INTEGERS = frozenset({"tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"})
_NUMBERS = frozenset({"decimal", "numeric", "float", "double", "real"})
_LENGTHS = frozenset({"char", "varchar", "binary", "varbinary", "bit", "blob", "text", "vector"})
_TIMES = frozenset({"time", "datetime", "timestamp"})
_ESCAPES = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "Z": "\x1a"}
_SHAPE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*(?: precision)?)\s*(?:\((.*)\))?([^()]*)", re.DOTALL)
_OLD_TIME = re.compile(r"\s*/\*\s*mariadb-5\.3\s*\*/")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def native_type(column_type: str) -> str:
    """The server's spelling without the remark that MariaDB adds to temporal types."""
    return (_OLD_TIME.sub("", column_type) if "/*" in column_type else column_type).strip()


@lru_cache(maxsize=8192)
def parse(
    native: str, *, charset: str | None, collation: str | None, is_json: bool
) -> tuple[str, dict[str, Any]]:
    """The bare name of a type and its parameters. The result is shared; treat it as read-only."""
    match = _SHAPE.match(native)
    if match is None:
        return native, {}
    name, inside, after = match[1].lower(), match[2], _COMMENT.sub("", match[3]).lower().split()
    parameters = _inside(name, inside) if inside is not None else {}
    for word in ("unsigned", "zerofill"):
        if word in after:
            parameters[word] = True
    if charset:
        parameters["charset"] = charset
    if collation and charset:
        parameters["collation"] = collation
    if is_json:
        parameters["json_alias"] = True
    return name, parameters


def _inside(name: str, text: str) -> dict[str, Any]:
    if name in ("enum", "set"):
        return {"values": labels(text)}
    numbers = [int(part) for part in text.split(",") if re.fullmatch(r"\s*[0-9]{1,18}\s*", part)]
    if not numbers:
        return {"modifiers": [part.strip() for part in text.split(",")]}
    if name in _INTEGERS:
        return {"display_width": numbers[0]}
    if name in _NUMBERS:
        return dict(zip(("precision", "scale"), numbers, strict=False))
    if name in _LENGTHS:
        return {"length": numbers[0]}
    if name in _TIMES:
        return {"precision": numbers[0]}
    return {"modifiers": [part.strip() for part in text.split(",")]}


def labels(text: str) -> list[str]:
    """The values of a list of SQL string literals, with quotes and backslashes undone."""
    found: list[str] = []
    position = 0
    while (start := text.find("'", position)) >= 0:
        characters: list[str] = []
        position = start + 1
        while position < len(text):
            char = text[position]
            following = text[position + 1 : position + 2]
            if char == "\\" and following:
                characters.append(_ESCAPES.get(following, following))
                position += 2
            elif char == "'" and following == "'":
                characters.append("'")
                position += 2
            elif char == "'":
                position += 1
                break
            else:
                characters.append(char)
                position += 1
        found.append("".join(characters))
    return found
