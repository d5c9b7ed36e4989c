"""What can go wrong when talking to an AIDE server.

AideError
├── AuthError         401, 403  the log-in is wrong or ended, or this caller may not do it
├── NotFoundError     404       there is no such thing
├── ConflictError     409       the present state does not allow it
├── ValidationError   400, 413, 415, 422  the input is wrong
├── RateLimitedError  429       too many requests; `retry_after` tells for how long
├── TransportError    502 to 504, or no answer, or one that no AIDE server gives
└── SpoolFullError    nothing was sent: the offline spool has reached its bound

Any other status raises AideError itself. No text here ever holds a password, a key or a token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any


class AideError(Exception):
    """A call did not succeed.

    status: the HTTP status, or None when there was no answer.
    error_code: the server's stable code (`VERSION_CONFLICT`), or one of ours in the same style.
    detail: one sentence for people.
    errors: `[{"field": …, "code": …, "detail": …}]`, empty when the server named no fields.
    request_id: what the server's log calls this request.
    retry_after: seconds that the server asked to wait, or None.
    problem: the whole answer, for what single errors add (the current state of a conflict).
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        error_code: str = "",
        errors: Sequence[Mapping[str, Any]] = (),
        request_id: str = "",
        retry_after: float | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        self.detail = detail
        self.status = status
        self.error_code = error_code
        self.errors = tuple(dict(error) for error in errors)
        self.request_id = request_id
        self.retry_after = retry_after
        self.problem = dict(problem or {})
        super().__init__(detail)

    def __str__(self) -> str:
        known = " ".join(str(part) for part in (self.status, self.error_code) if part)
        return f"{known}: {self.detail}" if known else self.detail


class AuthError(AideError):
    """401 or 403: who is calling is not known, or may not do this."""


class NotFoundError(AideError):
    """404."""


class ConflictError(AideError):
    """409: exists already, is needed by others, was changed meanwhile, is immutable."""


class ValidationError(AideError):
    """400, 413, 415 or 422: `errors` names the fields."""


class RateLimitedError(AideError):
    """429: `retry_after` has the seconds to wait."""


class TransportError(AideError):
    """The server was not reached, did not answer in time, is unavailable, or is no AIDE server."""


class SpoolFullError(AideError):
    """The offline spool has reached its bound; the event was not taken."""


_KINDS: Mapping[int, type[AideError]] = {
    400: ValidationError,
    401: AuthError,
    403: AuthError,
    404: NotFoundError,
    409: ConflictError,
    413: ValidationError,
    415: ValidationError,
    422: ValidationError,
    429: RateLimitedError,
    502: TransportError,
    503: TransportError,
    504: TransportError,
}


def error_of(status: int, body: bytes, *, retry_after: str | None = None, about: str = "") -> AideError:
    """The error that a refusal means; `body` is problem+json, or whatever a proxy answered instead."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    wait = seconds_to_wait(retry_after)
    if not isinstance(problem, dict):
        kind = _KINDS.get(status, AideError)
        return kind(f"{about} was answered with status {status}.", status=status, retry_after=wait)
    errors = problem.get("errors")
    return _KINDS.get(status, AideError)(
        str(problem.get("detail") or problem.get("title") or "The server gave no reason."),
        status=status,
        error_code=str(problem.get("error_code") or ""),
        errors=[error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else (),
        request_id=str(problem.get("request_id") or ""),
        retry_after=wait,
        problem=problem,
    )


def seconds_to_wait(header: str | None) -> float | None:
    """`Retry-After`, which holds seconds or a date, as seconds from now; None when it says nothing."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
