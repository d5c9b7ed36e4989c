"""Comparing schema documents and carrying changes out on them: two inverse operations. Pure."""

from __future__ import annotations

from crawling.diff.apply import CannotApply, apply
from crawling.diff.changes import (
    BREAKING,
    MANY_GONE,
    RISKS,
    RISKY,
    SAFE,
    Change,
    Context,
    DatasetDiff,
    left_without,
    missing_requirements,
)
from crawling.diff.compare import compare
from crawling.diff.correct import pair, pair_datasets, split, split_datasets
from crawling.diff.one import diff
from crawling.diff.stale import present_value, stale

__all__ = [
    "BREAKING",
    "MANY_GONE",
    "RISKS",
    "RISKY",
    "SAFE",
    "CannotApply",
    "Change",
    "Context",
    "DatasetDiff",
    "apply",
    "compare",
    "diff",
    "left_without",
    "missing_requirements",
    "pair",
    "pair_datasets",
    "present_value",
    "split",
    "split_datasets",
    "stale",
]
