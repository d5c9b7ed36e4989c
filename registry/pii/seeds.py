"""The rules and words that come with AIDE, read once from `registry/seeds/pii`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from registry.pii.rules import RuleSet, read_language, read_rules

BUNDLED = Path(__file__).parent.parent / "seeds" / "pii"


@lru_cache(maxsize=1)
def default_rules() -> RuleSet:
    """The rules that come with AIDE. Raises `RuleInvalid` when a file is not as it must be."""
    version, rules, vetoes = read_rules(yaml.safe_load((BUNDLED / "rules.yaml").read_text("utf-8")))
    languages = tuple(
        read_language(yaml.safe_load(path.read_text("utf-8")))
        for path in sorted((BUNDLED / "words").glob("*.yaml"))
    )
    return RuleSet(version, rules, languages, vetoes)
