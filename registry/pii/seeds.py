"""The rules and words that come with AIDE, read once from `registry/seeds/pii`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from registry.pii.rules import RuleSet, read_language, read_rules

BUNDLED = Path(__file__).parent.parent / "seeds" / "pii"

_FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache(maxsize=1)
def default_rules() -> RuleSet:
    """The rules that come with AIDE. Raises `RuleInvalid` when a file is not as it must be."""
    version, rules, vetoes = read_rules(_load(BUNDLED / "rules.yaml"))
    languages = tuple(read_language(_load(path)) for path in sorted((BUNDLED / "words").glob("*.yaml")))
    return RuleSet(version, rules, languages, vetoes)


def _load(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=_FASTEST)  # noqa: S506 - both loaders are safe ones
