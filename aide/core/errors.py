"""The errors that rules raise; only faces (API, admin, commands) translate them.

DomainError
├── Invalid      422  the input itself is wrong
├── Forbidden    403  this person may not do it
├── NotFound     404  the thing is not there
├── Conflict     409  the present state does not allow it
└── Unavailable  503  something that we need does not answer
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldError:
    """One thing that is wrong: where (a dotted path), a stable code, a plain sentence."""

    field: str
    code: str
    detail: str

    def as_dict(self) -> dict[str, str]:
        return {"field": self.field, "code": self.code, "detail": self.detail}


class DomainError(Exception):
    """A rule refuses; `code` is stable and part of the API, `detail` is a sentence for people."""

    default_code = "CONFLICT"
    default_status = 409

    def __init__(
        self,
        code: str | None = None,
        detail: str = "",
        *,
        status: int | None = None,
        errors: Iterable[FieldError | Mapping[str, str]] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.code = code or self.default_code
        self.detail = detail or "This cannot be done."
        self.status = status or self.default_status
        self.errors: tuple[dict[str, str], ...] = tuple(
            e.as_dict() if isinstance(e, FieldError) else dict(e) for e in errors
        )
        self.extra: dict[str, Any] = dict(extra or {})
        super().__init__(self.detail)


class Invalid(DomainError):  # noqa: N818 (read as what the rule says)
    default_code = "VALIDATION_ERROR"
    default_status = 422


class Forbidden(DomainError):  # noqa: N818 (read as what the rule says)
    default_code = "FORBIDDEN"
    default_status = 403


class NotFound(DomainError):  # noqa: N818 (read as what the rule says)
    default_code = "NOT_FOUND"
    default_status = 404


class Conflict(DomainError):  # noqa: N818 (read as what the rule says)
    default_code = "CONFLICT"
    default_status = 409


class Unavailable(DomainError):  # noqa: N818 (read as what the rule says)
    default_code = "UNAVAILABLE"
    default_status = 503
