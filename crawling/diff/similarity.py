"""How alike two names are, for telling a rename from a drop beside an add."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """`customerPhone_2` as customer, phone, 2."""
    return tuple(word.lower() for word in _WORD.findall(name)) or (name.lower(),)


@lru_cache(maxsize=8192)
def likeness(one: str, other: str) -> float:
    """From 0 to 1: the better of likeness letter by letter and word by word, abbreviations counted in part."""
    a, b = words(one), words(other)
    flat_a, flat_b = "".join(a), "".join(b)
    if flat_a == flat_b:
        return 1.0
    letters = SequenceMatcher(None, flat_a, flat_b, autojunk=False).ratio()
    short, long = sorted((a, b), key=len)
    left = list(long)
    met = 0.0
    for word in short:
        best = max(left, key=lambda each: _word_likeness(word, each), default=None)
        if best is not None:
            met += _word_likeness(word, best)
            left.remove(best)
    return max(letters, 2 * met / (len(a) + len(b)))


def _word_likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if len(short) >= 2 and short[0] == long[0] and _within(short, long):
        return 0.8
    ratio = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return ratio if ratio >= 0.75 else 0.0


def _within(short: str, long: str) -> bool:
    """Whether the letters of one appear in the other in order, as in `qty` and `quantity`."""
    letters = iter(long)
    return all(letter in letters for letter in short)
