"""Lost updates: `row_version` in bodies, `ETag` and `If-Match` in headers, one 409 with the current state."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rest_framework.request import Request

from aide.core.errors import Conflict
from aide.core.problems import ApiValidationError

_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def etag(row_version: int) -> str:
    return f'"{row_version}"'


def check_row_version(
    request: Request, instance: Any, *, sent: Any = None, current: Callable[[], Any]
) -> None:
    """Refuses a write that was made from another state than the present one.

    `sent` is the body's `row_version`, `current` gives the state that goes into the answer.
    """
    present = getattr(instance, "row_version", None)
    if present is None:
        return
    wanted = [tag for tag in (_from_header(request), _from_body(sent)) if tag is not None]
    if all(str(present) in tags for tags in wanted):
        return
    raise Conflict(
        "VERSION_CONFLICT",
        "Someone changed this after you read it. Look at the current state and try again.",
        extra={"current": current()},
    )


def _from_header(request: Request) -> set[str] | None:
    header = request.META.get("HTTP_IF_MATCH", "").strip()
    if not header or header == "*":
        return None
    return set(_TAG.findall(header)) or {header}


def _from_body(sent: Any) -> set[str] | None:
    if sent is None:
        return None
    if isinstance(sent, bool) or not isinstance(sent, int) or not 0 <= sent < 2**31:
        detail = "Use the number that you read."
        raise ApiValidationError([{"field": "row_version", "code": "invalid", "detail": detail}])
    return {str(sent)}
