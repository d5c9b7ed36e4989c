"""Row ids that come from outside as text."""

from __future__ import annotations

_LONGEST = 18  # digits of a number that every database's bigint holds


def row_id(text: str) -> int:
    """The id that a text holds, or 0, which is no row's, where it can be none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _LONGEST else 0
