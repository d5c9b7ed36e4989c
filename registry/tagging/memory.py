"""What was said no to, and when it may be asked again. Plain values only; anybody may use it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Claim:
    """What a rule, or lineage, says about a field. `path` holds the columns that it came by."""

    field_id: int
    tag_id: int
    rule: str
    rule_version: str
    evidence: str
    native_type: str = ""
    confidence: float | None = None
    name_only: bool = False
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """A person's no to a tag on a field, and what it was said to."""

    rule: str
    rule_version: str
    evidence: str
    native_type: str
    reason: str
    at: datetime | None


def fingerprint(claim: Claim | Refusal, *, field_id: int, tag_id: int) -> str:
    """What a decision is remembered by: the field's identity, the tag, the type, the rule and its version."""
    parts: list[Any] = [field_id, tag_id, claim.native_type, claim.rule, claim.rule_version]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def cause_of(claim: Claim, refusals: Iterable[Refusal]) -> str | None:
    """Why a claim may be asked again, in words; empty when it was never refused, None when it must stay so.

    It needs both: a version of the rule that no refusal was said to, and evidence that none was said to. A tag that
    people put and people took away has no rule, so no rule brings it back.
    """
    said = sorted(refusals, key=lambda each: each.at.timestamp() if each.at else 0.0)
    if not said:
        return ""
    for each in said:
        if not each.rule:
            return None
        if (each.rule, each.rule_version) == (claim.rule, claim.rule_version):
            return None
        if (each.evidence, each.native_type) == (claim.evidence, claim.native_type):
            return None
    last = said[-1]
    when = f" on {last.at.day} {last.at:%b %Y}" if last.at else ""
    words = (
        f"Someone said no{when}"
        + (f" ({last.reason})" if last.reason else "")
        + ". It is asked again because "
    )
    if last.rule == claim.rule:
        words += f"the rule went from version {last.rule_version} to {claim.rule_version}"
    else:
        words += f"another rule ({claim.rule} {claim.rule_version}) says so"
    if last.native_type != claim.native_type:
        return f"{words} and the type, {last.native_type or 'unknown'} then, is {claim.native_type or 'unknown'} now."
    return f"{words} and there is new evidence."
