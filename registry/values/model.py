"""Sets of values, family by family. Pure; limits are inclusive and None means without limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

LOSSLESS, LOSSY, UNSAFE, NONE = "lossless", "lossy", "unsafe", "none"
_ORDER = (LOSSLESS, LOSSY, UNSAFE, NONE)

LOCAL, INSTANT, OFFSET, ANY_ZONE = "local", "instant", "offset", "any"


@dataclass(frozen=True)
class Verdict:
    """What becomes of the values, and why, in plain words."""

    safety: str
    why: str

    @property
    def rank(self) -> int:
        return _ORDER.index(self.safety)


def worst(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The worst of several, the first of equal ones."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=None)


@dataclass(frozen=True)
class Values:
    """Any family."""


@dataclass(frozen=True)
class Flag(Values):
    """True and false."""


@dataclass(frozen=True)
class Whole(Values):
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Exact(Values):
    """Decimal numbers by digits before and after the point, either of which may be negative (numeric(2,-3) holds
    thousands, numeric(2,3) less than a tenth); `digits` bounds both together where each value has
    its own scale; `specials` are NaN and infinity."""

    whole: int | None
    scale: int | None
    digits: int | None = None
    signed: bool = True
    specials: bool = False


@dataclass(frozen=True)
class Float(Values):
    """Binary floating numbers by bits of the significand (11, 24, 53)."""

    bits: int
    specials: bool = True
    signed: bool = True


@dataclass(frozen=True)
class Text(Values):
    """`unit` is what the length counts: character, byte (UTF-8) or utf16. `characters` names the repertoire.

    `padded`: blanks at the end do not count. `empty`: an empty text differs from null.
    """

    length: int | None = None
    unit: str = "character"
    characters: str = "unicode"
    padded: bool = False
    empty: bool = True


@dataclass(frozen=True)
class Octets(Values):
    """Bytes; `fixed` when every value has exactly this length."""

    length: int | None = None
    fixed: bool = False
    empty: bool = True


@dataclass(frozen=True)
class Bits(Values):
    length: int | None = None
    fixed: bool = False


Instant = tuple[int, ...]
"""(year, month, day, hour, minute, second) of the proleptic calendar; year 0 is 1 BC."""


@dataclass(frozen=True)
class Day(Values):
    low: Instant | None
    high: Instant | None
    infinity: bool = False


@dataclass(frozen=True)
class Clock(Values):
    """Times of day in seconds, with digits of the fraction."""

    fraction: int | None
    low: int = 0
    high: int = 86_399
    zone: bool = False


@dataclass(frozen=True)
class Moment(Values):
    """Dates with a time. `step` is the coarser grid of some types, in words."""

    zone: str
    fraction: int | None
    low: Instant | None = None
    high: Instant | None = None
    infinity: bool = False
    step: str = ""


@dataclass(frozen=True)
class Span(Values):
    """Durations, by the parts that are kept apart: the largest number of months and days (0 = no such part)."""

    months: int | None
    days: int | None
    seconds: bool = True
    fraction: int | None = 6
    negative: bool = True


@dataclass(frozen=True)
class Labels(Values):
    """One (or for `several` any number) of listed texts; None when the list is not known."""

    labels: tuple[str, ...] | None
    several: bool = False


@dataclass(frozen=True)
class Named(Values):
    """Values of a family that is only equal to itself: uuid, json, xml, inet, …

    `written` is the longest written form, None without limit; `writable` tells whether it can be written as text
    and read back.
    """

    name: str
    written: int | None = None
    writable: bool = True
    variant: str = ""


@dataclass(frozen=True)
class Listed(Values):
    element: Values
    length: int | None = None


@dataclass(frozen=True)
class Mapped(Values):
    key: Values
    value: Values


@dataclass(frozen=True)
class Record(Values):
    fields: tuple[tuple[str, Values], ...] = ()


@dataclass(frozen=True)
class Choice(Values):
    """One of several types; null is told by Named("null")."""

    members: tuple[Values, ...] = field(default_factory=tuple)

    @property
    def present(self) -> tuple[Values, ...]:
        """The members that are not null."""
        return tuple(each for each in self.members if each != NULL)


NULL = Named("null", 0)
