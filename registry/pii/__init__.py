"""The classifier of personal data: names, types and comments → suggestions with reasons. Pure, but for its files."""

from __future__ import annotations

from registry.pii.classifying import classify
from registry.pii.columns import NAME_ONLY_CAP, Column, Evidence, Suggestion
from registry.pii.rules import Language, Rule, RuleInvalid, RuleSet, read_language, read_rule, read_rules
from registry.pii.seeds import default_rules

__all__ = [
    "NAME_ONLY_CAP",
    "Column",
    "Evidence",
    "Language",
    "Rule",
    "RuleInvalid",
    "RuleSet",
    "Suggestion",
    "classify",
    "default_rules",
    "read_language",
    "read_rule",
    "read_rules",
]
