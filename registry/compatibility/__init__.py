"""What a change of a schema means to readers and writers: of one type, of one aspect, of a whole document. Pure."""

from __future__ import annotations

from registry.compatibility.fit import Fit
from registry.compatibility.levels import LEVELS, NONE, Reason, Verdict, is_transitive, verdict
from registry.compatibility.risk import BREAKING, RISKY, SAFE
from registry.compatibility.types import fits, without_text_settings

__all__ = [
    "BREAKING",
    "LEVELS",
    "NONE",
    "RISKY",
    "SAFE",
    "Fit",
    "Reason",
    "Verdict",
    "fits",
    "is_transitive",
    "verdict",
    "without_text_settings",
]
