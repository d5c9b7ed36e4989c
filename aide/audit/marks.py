"""What of an audit row counts, and the installation's signatures over it. Used by `aide.audit` only."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from functools import lru_cache
from typing import Any

from django.conf import settings

CONTENT = (
    "at", "actor_id", "actor_name", "actor_roles", "via", "action", "object_type", "object_id", "object_name",
    "system_code", "dataset_id", "risk", "touches_pii", "before", "after", "reason", "batch", "request_id",
    "ip", "user_agent",
)  # fmt: skip
_quoted = json.encoder.encode_basestring_ascii
_encoder = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))
# What the encoder makes anew for each value, made once; absent where Python has no C encoder.
_make = getattr(json.encoder, "c_make_encoder", None)
_chunks = _make and _make(None, _encoder.default, _quoted, None, ":", ",", True, False, True)
_ROW = b"aide.audit.row"
_JSON = ("before", "after")
_EXACT = 2**53


# The columns of `text_of`, in the order that their names have in the text.
SORTED = tuple(sorted(CONTENT))


def content_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's content in a form that reads back the same from every database."""
    content = {name: row[name] for name in CONTENT}
    content["at"] = row["at"].astimezone(UTC).isoformat(timespec="microseconds")
    return content


def text_of(row: Sequence[Any]) -> str:
    """The content as the chain hashes it: what `canonical(content_of(row))` gives, several times faster.

    `row` holds the values of `SORTED`, as read from the database.
    """
    (action, actor_id, actor_name, actor_roles, after, at, batch, before, dataset_id, ip, object_id, object_name,
     object_type, reason, request_id, risk, system_code, touches_pii, user_agent, via) = row  # fmt: skip
    q = _quoted
    return (
        f'{{"action":{q(action)},"actor_id":{"null" if actor_id is None else actor_id}'
        f',"actor_name":{q(actor_name)},"actor_roles":{q(actor_roles)}'
        f',"after":{"null" if after is None else canonical(after)}'
        f',"at":"{at.astimezone(UTC).isoformat(timespec="microseconds")}","batch":{q(batch)}'
        f',"before":{"null" if before is None else canonical(before)}'
        f',"dataset_id":{"null" if dataset_id is None else dataset_id},"ip":{q(ip)}'
        f',"object_id":{q(object_id)},"object_name":{q(object_name)},"object_type":{q(object_type)}'
        f',"reason":{q(reason)},"request_id":{q(request_id)},"risk":{q(risk)},"system_code":{q(system_code)}'
        f',"touches_pii":{"true" if touches_pii else "false"},"user_agent":{q(user_agent)},"via":{q(via)}}}'
    )


def canonical(value: Any) -> str:
    """JSON that is spelled the same wherever it is written."""
    if _chunks is not None and isinstance(value, dict | list):
        return "".join(_chunks(value, 0))
    return _encoder.encode(value)


def mark_of(row: Mapping[str, Any]) -> str:
    """A row's mark, the same before it is saved and after it is read."""
    as_kept = {**row, **{name: json.loads(json.dumps(row[name])) for name in _JSON}}
    return _signed(_ROW, _marked_text(as_kept), settings.SECRET_KEY)


def is_marked(row: Mapping[str, Any]) -> bool:
    """Whether a row that was read still has the content that it was written with."""
    return _is_signed(_ROW, _marked_text(row), row["mark"])


def checker() -> Callable[[str, str], bool]:
    """Says many times whether a text has a mark. Where a row's `text_of` has not, `is_marked` has the last word."""
    key, *earlier = (_key(_ROW, each) for each in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))

    def holds(text: str, mark: str) -> bool:
        data = text.encode()
        if hmac.digest(key, data, "sha256").hex() == mark:
            return True
        return any(hmac.digest(each, data, "sha256").hex() == mark for each in earlier)

    return holds


def sign(count: int, digest: str) -> str:
    """The signature of the chain's head."""
    return _signed(b"aide.audit.head", f"{count}:{digest}", settings.SECRET_KEY)


def is_signed(count: int, digest: str, signature: str) -> bool:
    """Whether the head is one that this installation signed, with its present secret key or an earlier one."""
    return _is_signed(b"aide.audit.head", f"{count}:{digest}", signature)


def sign_anchor(number: int, count: int, digest: str) -> str:
    """The signature of an anchor: the number says how many were before it."""
    return _signed(b"aide.audit.anchor", f"{number}:{count}:{digest}", settings.SECRET_KEY)


def is_anchor(number: int, count: int, digest: str, signature: str) -> bool:
    """Whether this installation signed the anchor, with its present secret key or an earlier one."""
    return _is_signed(b"aide.audit.anchor", f"{number}:{count}:{digest}", signature)


def _signed(purpose: bytes, text: str, secret: str | bytes) -> str:
    return hmac.digest(_key(purpose, secret), text.encode(), "sha256").hex()


@lru_cache(maxsize=32)
def _key(purpose: bytes, secret: str | bytes) -> bytes:
    return hashlib.sha256(purpose + (secret.encode() if isinstance(secret, str) else secret)).digest()


def _is_signed(purpose: bytes, text: str, signature: str) -> bool:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    given = signature.encode()
    return any(hmac.compare_digest(given, _signed(purpose, text, secret).encode()) for secret in secrets)


def _marked_text(row: Mapping[str, Any]) -> str:
    content = content_of(row)
    for name in _JSON:
        content[name] = _plain(content[name])
    return canonical(content)


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
