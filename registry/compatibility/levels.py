"""The seven levels of compatibility, and the verdict on a changed document with every reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.compatibility.findings import Finding, findings
from registry.compatibility.risk import BREAKING, RISKS, RISKY, SAFE
from registry.typesystem import Catalogue

Document = Mapping[str, Any]

NONE = "NONE"
_WAYS = {
    NONE: frozenset[str](),
    "BACKWARD": frozenset({"backward"}),
    "FORWARD": frozenset({"forward"}),
    "FULL": frozenset({"backward", "forward"}),
}
_TRANSITIVE = "_TRANSITIVE"
LEVELS = (*_WAYS, *(f"{level}{_TRANSITIVE}" for level in _WAYS if level != NONE))


@dataclass(frozen=True)
class Reason:
    """One difference as a level sees it.

    `severity`: breaking when the level forbids it; else at most risky, where NONE, which forbids nothing, shows the
    risk as it is. `version` is the version that the new document was compared with, where it has a number.
    """

    field: str | None
    rule: str
    old: Any
    new: Any
    severity: str
    version: int | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "field": self.field,
            "rule": self.rule,
            "old": self.old,
            "new": self.new,
            "severity": self.severity,
            "version": self.version,
            "why": self.why,
        }


@dataclass(frozen=True)
class Verdict:
    """Whether a level allows a change; `risk` is what the change may do to anybody, whatever the level."""

    compatible: bool
    risk: str
    reasons: tuple[Reason, ...]

    @property
    def breaking(self) -> tuple[Reason, ...]:
        """The reasons that the level forbids, or under NONE those that are breaking by themselves."""
        return tuple(reason for reason in self.reasons if reason.severity == BREAKING)

    def to_dict(self) -> dict[str, Any]:
        return {
            "compatible": self.compatible,
            "risk": self.risk,
            "reasons": [reason.to_dict() for reason in self.reasons],
        }


NOTHING_CHANGES = Verdict(compatible=True, risk=SAFE, reasons=())


def is_transitive(level: str) -> bool:
    """Whether a level compares with every earlier version, not the last alone."""
    return level.endswith(_TRANSITIVE)


def verdict(
    before: Document | None,
    after: Document,
    *,
    level: str,
    catalogue: Catalogue,
    history: Sequence[Document] = (),
    positional: bool = False,
) -> Verdict:
    """What a level says to a clean document that is to follow another.

    All differences from `before` are reasons; of those from `history`, the still earlier documents that a
    transitive level compares with, only what it forbids. A document's `version` is its number. With `positional`,
    the order of fields is content. ValueError for an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"{level} is no level of compatibility.")
    if before is None:
        return NOTHING_CHANGES
    found = findings(before, after, catalogue=catalogue, positional=positional)
    reasons = [_reason(each, level=level, version=before.get("version")) for each in found]
    if is_transitive(level):
        for document in history:
            older = findings(document, after, catalogue=catalogue, positional=positional)
            reasons += [
                _reason(each, level=level, version=document.get("version"))
                for each in older
                if _broken(each, level)
            ]
    compatible = level == NONE or all(reason.severity != BREAKING for reason in reasons)
    risk = _worst(each.rating.risk for each in found) if compatible else BREAKING
    return Verdict(compatible=compatible, risk=risk, reasons=tuple(reasons))


def _broken(finding: Finding, level: str) -> list[str]:
    """Who is left behind by a difference, of those that the level protects, as sentences."""
    ways = _WAYS[level.removesuffix(_TRANSITIVE)]
    left = []
    if "backward" in ways and not finding.backward:
        left.append("By the new schema not all old data can be read.")
    if "forward" in ways and not finding.forward:
        left.append("By the old schema not all new data can be read.")
    return left


def _reason(finding: Finding, *, level: str, version: int | None) -> Reason:
    rating = finding.rating
    broken = _broken(finding, level)
    severity = rating.risk
    if broken:
        severity = BREAKING
    elif level != NONE and severity == BREAKING:
        severity = RISKY
    why = " ".join([rating.why, *broken])
    return Reason(finding.field, rating.rule, finding.old, finding.new, severity, version, why)


def _worst(risks: Iterable[str]) -> str:
    return max(risks, key=RISKS.index, default=SAFE)
