"""JSON inside of type spellings: read within bounds, written compactly. Pure; used by the readers of types only."""

from __future__ import annotations

import json
from typing import Any

LONGEST = 1_000_000


def load(text: str) -> Any:
    """The value of a JSON text; None for anything that is not one."""
    if len(text) > LONGEST:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def dump(value: Any) -> str:
    """The value as compact JSON; a bare text stays as it is, since that is how a type is named."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
