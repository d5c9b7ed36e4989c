"""Passwords do not come in: user information of URLs, and values beside words that mean a secret, are masked."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"
# Here the part before "@" is a container, not a user.
_CONTAINERS = "abfs|abfss|wasb|wasbs"
_USERINFO = re.compile(
    rf"\b(?!(?:{_CONTAINERS})://)([a-zA-Z][a-zA-Z0-9+.\-]*://)([^\s/@\"'<>?#]*(?:@[^\s/@\"'<>?#]+)*)@"
)
_WORD = (
    r"(?:[a-z0-9]+[_\-.])*(?:password|passwd|pwd|passphrase|secret|secret[_\-]?key|access[_\-]?token|"
    r"auth[_\-]?token|token|api[_\-]?key|access[_\-]?key|private[_\-]?key|account[_\-]?key|"
    r"shared[_\-]?access[_\-]?signature|client[_\-]?secret|credentials?)"
)
_SECRET_KEY = re.compile(rf"\A{_WORD}\Z", re.IGNORECASE)
_PAIR = re.compile(
    rf"(?<![a-z0-9])({_WORD}\\?[\"']?)(\s*[:=]\s*(?=\\?[\"'])|[:=])(\\?\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s&;,\"'}})]+)",
    re.IGNORECASE,
)
_SQL = re.compile(r"((?:\bpassword|\bidentified\s+by)\s+)('(?:[^']|'')*'|\"[^\"]*\")", re.IGNORECASE)
_HINTS = (
    "@", "passw", "pwd", "passphrase", "secret", "token", "key", "signature", "credential", "identified", "\\u00",
)  # fmt: skip


def may_hold_secrets(text: str) -> bool:
    """A cheap look at a whole body; False means there is nothing to mask."""
    low = text.lower()
    return any(hint in low for hint in _HINTS)


def without_userinfo(text: str) -> str:
    """A namespace or name without the user, and the password, of the URL in it."""
    return masked_text(_USERINFO.sub(r"\1", text)) if may_hold_secrets(text) else text


def masked_text(text: str) -> str:
    """A text whose passwords are gone. A user without a password stays."""
    if not may_hold_secrets(text):
        return text
    text = _USERINFO.sub(lambda hit: hit[0] if ":" not in hit[2] else hit[1], text)
    text = _PAIR.sub(lambda hit: hit[1] + hit[2] + _quoted_mask(hit[3]), text)
    return _SQL.sub(lambda hit: f"{hit[1]}'{MASK}'", text)


def masked(value: Any) -> Any:
    """A JSON value whose secrets are masked; the same object where there are none."""
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, list):
        items = [masked(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        return _masked_object(value)
    return value


def _masked_object(value: dict[str, Any]) -> dict[str, Any]:
    named = value.get("name")
    names_secret = isinstance(named, str) and "value" in value and _SECRET_KEY.match(named) is not None
    found = {}
    changed = False
    for key, old in value.items():
        is_secret = _SECRET_KEY.match(key) is not None or (names_secret and key == "value")
        if is_secret and isinstance(old, str) and old:
            new: Any = MASK
        elif key in {"namespace", "name"} and isinstance(old, str):
            new = without_userinfo(old)
        else:
            new = masked(old)
        clean_key = without_userinfo(key)
        changed = changed or new is not old or clean_key != key
        found[clean_key] = new
    return found if changed else value


def _quoted_mask(value: str) -> str:
    for quote in ('\\"', '"', "'"):
        if value.startswith(quote):
            return f"{quote}{MASK}{quote}"
    return MASK
