"""Cells of a CSV file that people open in a spreadsheet."""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def harmless(value: Any) -> Any:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def escaped(value: str) -> str:
    """The same for a cell that comes back: a text that begins like an escaped one is escaped, too."""
    return f"'{value}" if value.startswith((*_FORMULA, "'")) else value


def unescaped(value: str) -> str:
    """What `escaped` was given."""
    return value[1:] if value[:1] == "'" and value[1:].startswith((*_FORMULA, "'")) else value
