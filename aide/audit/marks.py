"""What of an audit row counts, and the installation's signatures over it. Used by `aide.audit` only."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.conf import settings

CONTENT = (
    "at", "actor_id", "actor_name", "actor_roles", "via", "action", "object_type", "object_id", "object_name",
    "system_code", "dataset_id", "risk", "touches_pii", "before", "after", "reason", "batch", "request_id",
    "ip", "user_agent",
)  # fmt: skip
_JSON = ("before", "after")
_EXACT = 2**53


def content_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's content in a form that reads back the same from every database."""
    content = {name: row[name] for name in CONTENT}
    content["at"] = row["at"].astimezone(UTC).isoformat(timespec="microseconds")
    return content


def mark_of(row: Mapping[str, Any]) -> str:
    """A row's mark, the same before it is saved and after it is read."""
    as_kept = {**row, **{name: json.loads(json.dumps(row[name])) for name in _JSON}}
    return _signed(b"aide.audit.row", _marked_text(as_kept), settings.SECRET_KEY)


def is_marked(row: Mapping[str, Any]) -> bool:
    """Whether a row that was read still has the content that it was written with."""
    return _is_signed(b"aide.audit.row", _marked_text(row), row["mark"])


def sign(count: int, digest: str) -> str:
    """The signature of the chain's head."""
    return _signed(b"aide.audit.head", f"{count}:{digest}", settings.SECRET_KEY)


def is_signed(count: int, digest: str, signature: str) -> bool:
    """Whether the head is one that this installation signed, with its present secret key or an earlier one."""
    return _is_signed(b"aide.audit.head", f"{count}:{digest}", signature)


def _signed(purpose: bytes, text: str, secret: str | bytes) -> str:
    key = hashlib.sha256(purpose + (secret.encode() if isinstance(secret, str) else secret)).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _is_signed(purpose: bytes, text: str, signature: str) -> bool:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(
        hmac.compare_digest(signature.encode(), _signed(purpose, text, secret).encode()) for secret in secrets
    )


def _marked_text(row: Mapping[str, Any]) -> str:
    content = content_of(row)
    for name in _JSON:
        content[name] = _plain(content[name])
    return json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """JSON whose numbers are spelled alike, however a database keeps them: PostgreSQL writes 1e22 as digits."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if abs(value) < _EXACT:
        return int(value) if value == int(value) else value
    try:
        return repr(float(value))
    except OverflowError:
        return str(value)
