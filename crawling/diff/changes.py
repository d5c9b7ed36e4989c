"""The values of a comparison: a change, a dataset's difference, and what is known about readers and tags."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from registry.compatibility.risk import BREAKING, RISKS, RISKY, SAFE

__all__ = [
    "BREAKING",
    "MANY_GONE",
    "NO_CONTEXT",
    "RISKS",
    "RISKY",
    "SAFE",
    "Change",
    "Context",
    "DatasetDiff",
    "Document",
    "left_without",
    "missing_requirements",
]

Document = dict[str, Any]

MANY_GONE = "many_gone"
"""The rule of a removal among suddenly very many: approved by its own id, never with others as a whole."""

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Change:
    """One difference that a person can decide by itself.

    `field` is the path of a field, seen after the renames of this and its parent fields; `before` and `after` are
    JSON values. `requires` holds the fingerprints of changes of the same dataset without which this one makes no
    valid document. The fingerprint depends on what changes, not on versions: the same difference found again has
    the same one.
    """

    op: str
    dataset: str
    field: str | None
    before: Any
    after: Any
    risk: str
    why: str
    rule: str
    requires: tuple[str, ...] = ()
    fingerprint: str = ""
    evidence: tuple[Mapping[str, Any], ...] = ()
    touches_pii: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"requires": list(self.requires), "evidence": [dict(e) for e in self.evidence]}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Change:
        return cls(
            **{
                **value,
                "requires": tuple(value.get("requires") or ()),
                "evidence": tuple(value.get("evidence") or ()),
            }
        )


@dataclass(frozen=True)
class DatasetDiff:
    """What differs in one dataset. A new one has no `before`, a dropped one no `after`; renamed, it has two names."""

    before_name: str | None
    after_name: str | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """The registry's name where it has one, else the source's."""
        return self.before_name or self.after_name or ""

    @property
    def risk(self) -> str:
        return max((change.risk for change in self.changes), key=RISKS.index, default=SAFE)


@dataclass(frozen=True)
class Context:
    """What the registry knows beside the documents, by its own names: readers and confirmed PII tags."""

    readers: Mapping[Any, int] = field(default_factory=lambda: _NOTHING)
    pii: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=lambda: _NOTHING)

    def readers_of(self, dataset: str, path: str | None) -> int:
        """Known readers of a field; readers of the dataset whose fields are not known read every field."""
        whole = self.readers.get(dataset, 0)
        return whole if path is None else max(whole, self.readers.get((dataset, path), 0))

    def tags_of(self, dataset: str, path: str | None = None) -> tuple[str, ...]:
        """Tags of a field, or of every field of a dataset."""
        if path is not None:
            return tuple(self.pii.get((dataset, path), ()))
        return tuple(sorted({tag for (name, _), tags in self.pii.items() if name == dataset for tag in tags}))


NO_CONTEXT = Context()


def missing_requirements(changes: Iterable[Change], approved: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each approved change the fingerprints it requires that are among `changes` but not approved."""
    approved = set(approved)
    changes = tuple(changes)
    here = {change.fingerprint for change in changes}
    missing = {
        change.fingerprint: tuple(each for each in change.requires if each in here and each not in approved)
        for change in changes
        if change.fingerprint in approved
    }
    return {key: value for key, value in missing.items() if value}


def left_without(changes: Iterable[Change], unwanted: Collection[str]) -> tuple[Change, ...]:
    """The changes without those of these fingerprints and without what needs one of them."""
    changes = tuple(changes)
    here = {change.fingerprint for change in changes}
    left = here - set(unwanted)
    shrinking = True
    while shrinking:
        needless = {
            change.fingerprint
            for change in changes
            if change.fingerprint in left and any(n in here and n not in left for n in change.requires)
        }
        left -= needless
        shrinking = bool(needless)
    return tuple(change for change in changes if change.fingerprint in left)
