"""Names as words: snake, camel, kebab and glued names, in Latin letters without accents. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container
from functools import lru_cache

LONGEST = 200  # characters of a name that are looked at

_BARE = str.maketrans(
    {
        "ß": "ss",
        "ẞ": "SS",
        "ł": "l",
        "Ł": "L",
        "ø": "o",
        "Ø": "O",
        "đ": "d",
        "Đ": "D",
        "\u0131": "i",
        "\u0130": "I",
    }
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "\u2019": "'"}
)
_PIECES = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+|\d+")
_ACRONYM_PLURAL = re.compile(r"\b([A-Z]{2,})s\b")
# What German, Dutch and the Nordic languages put between two words, and small words glued in.
_LINKS = ("s", "n", "en", "es", "e", "of", "de", "del", "da", "do", "di", "du")
_SHORTEST = 4  # letters of a word inside a glued name, unless the vocabulary says that it is often glued


def fold(text: str) -> str:
    """The text without accents, its case kept."""
    if text.isascii():
        return text
    spread = unicodedata.normalize("NFKD", text.translate(_BARE))
    return "".join(each for each in spread if not unicodedata.combining(each))


@lru_cache(maxsize=65536)
def split(name: str) -> tuple[str, ...]:
    """The words of a name, lower case; numbers are words of their own: `homeAddress_2` → home, address, 2."""
    text = _ACRONYM_PLURAL.sub(r"\1", fold(name[:LONGEST]))
    return tuple(each.lower() for each in _PIECES.findall(text))


def unglue(word: str, known: Callable[[str, bool], bool], beginnings: Container[str]) -> tuple[str, ...]:
    """The known words that a glued one is made of, or none: every letter must belong to one.

    `known(piece, is_short)` says whether a piece is a word; short ones must be listed for it. `beginnings` are
    what known words begin with. The fewest pieces win, then the longest first one: `geburtsdatum` → geburt, datum.
    """
    if len(word) < 5 or len(word) > 48:
        return ()
    best: list[tuple[str, ...] | None] = [None] * (len(word) + 1)
    best[len(word)] = ()
    for start in range(len(word) - 2, -1, -1):
        for end in range(start + 1, len(word) + 1):
            piece = word[start:end]
            if piece not in beginnings:
                break
            if end > start + 1 and known(piece, end - start < _SHORTEST):
                rest = _rest(word, end, best)
                current = best[start]
                if rest is not None and (current is None or len(rest) < len(current)):
                    best[start] = (piece, *rest)
    whole = best[0]
    if not whole or len(whole) < 2 or len(whole) > 4 or max(map(len, whole)) < _SHORTEST - 1:
        return ()
    return whole


def _rest(word: str, end: int, best: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """The shortest way on behind a piece, with or without a link between the two."""
    found = best[end]
    for link in _LINKS if end < len(word) else ():
        if word.startswith(link, end):
            after = best[end + len(link)]
            if after and (found is None or len(after) < len(found)):
                found = after
    return found
