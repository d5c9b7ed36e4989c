"""What the classifier is given and what it answers: plain values, pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NAME_ONLY_CAP = 0.89  # a name alone never reaches 0.90, where things may be accepted in bulk


@dataclass(frozen=True)
class Evidence:
    """Shape counts of sampled values, such as `{"email": 98}` of 100; never a value."""

    sampled: int
    shapes: Mapping[str, int] = field(default_factory=dict)

    def share(self, shape: str) -> float:
        """Which part of the sampled values has this shape, 0 to 1."""
        return self.shapes.get(shape, 0) / self.sampled if self.sampled else 0.0


@dataclass(frozen=True)
class Column:
    """One column as a source describes it. `table` may be qualified (`schema.table`)."""

    table: str
    name: str
    native_type: str = ""
    comment: str = ""
    language: str = ""
    values: Evidence | None = None


@dataclass(frozen=True)
class Suggestion:
    """A kind of personal data that a column may hold, why, and how sure the rule is (0 to 1).

    `name_only` says that nothing but the column's name speaks for it.
    """

    tag: str
    confidence: float
    rule: str
    rule_version: str
    evidence: str
    name_only: bool
