"""The rules in force: those that come with AIDE, with what admins switched off, changed or added. Reads only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import structlog

from registry.models import PIIRule
from registry.pii.rules import Rule, RuleInvalid, RuleSet, read_rule
from registry.pii.seeds import default_rules

log = structlog.get_logger(__name__)

OWN = "own-"
"""What the version of a rule of an admin's begins with, so that it is never a shipped one's."""


def current() -> RuleSet:
    """The rules that suggestions are made with now; one statement."""
    rows = PIIRule.objects.filter(deleted_at__isnull=True).order_by("code").select_related("tag")
    switches = tuple(row.code for row in rows if not row.is_active)
    own = []
    for row in rows:
        if not row.is_active or not row.words:
            continue
        try:
            own.append(as_rule(row))
        except RuleInvalid as error:  # written under older rules for rules; the others still count
            log.warning("pii.rule_unreadable", rule=row.code, error=str(error))
    return _combined(switches, tuple(own))


def mark(rules: RuleSet, tags: Iterable[str]) -> str:
    """What a look with these rules and this vocabulary is known by; another one may find something else."""
    text = "\n".join([rules.version, *sorted(tags)])
    return f"{rules.version[:40]}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@lru_cache(maxsize=8)
def _combined(switches: tuple[str, ...], own: tuple[Rule, ...]) -> RuleSet:
    return default_rules().without(switches).extended(own)


def as_rule(row: PIIRule) -> Rule:
    """A rule of an admin's as the classifier takes it. Raises RuleInvalid where it is not written as it must be."""
    return read_rule(written(row.code, row.tag.code if row.tag else "", vars(row)))


def written(code: str, tag: str, values: Any) -> dict[str, Any]:
    """The rule as a rules document holds it."""
    return {
        "code": code,
        "tag": tag,
        "version": f"{OWN}{values.get('version') or 1}",
        "confidence": values["confidence"],
        "words": list(values["words"]),
        "vetoes": list(values["vetoes"]),
        "types": list(values["types"]),
    }
