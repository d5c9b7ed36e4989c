"""Which values a type can hold, and whether those of one type survive in another. Pure, without I/O.

Special values that are not counted: NaN in a PostgreSQL numeric with a precision, the NUL character in texts, and
texts or bytes of more than a gigabyte. SQLite's declared types are taken at their word when it is the source.
"""

from __future__ import annotations

from registry.values.judging import judge
from registry.values.model import (
    LOSSLESS,
    LOSSY,
    NONE,
    UNSAFE,
    Bits,
    Choice,
    Clock,
    Day,
    Exact,
    Flag,
    Float,
    Labels,
    Listed,
    Mapped,
    Moment,
    Named,
    Octets,
    Record,
    Span,
    Text,
    Values,
    Verdict,
    Whole,
    worst,
)
from registry.values.reading import values_of

__all__ = [
    "LOSSLESS",
    "LOSSY",
    "NONE",
    "UNSAFE",
    "Bits",
    "Choice",
    "Clock",
    "Day",
    "Exact",
    "Flag",
    "Float",
    "Labels",
    "Listed",
    "Mapped",
    "Moment",
    "Named",
    "Octets",
    "Record",
    "Span",
    "Text",
    "Values",
    "Verdict",
    "Whole",
    "judge",
    "values_of",
    "worst",
]
