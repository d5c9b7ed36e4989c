"""Who may call what: a view names the right that each action needs, and the groups answer.

The question itself is `aide.accounts.roles.can`; this layer lies below it, so the user model carries it as
`user.can`.
"""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

READ = "view"


class HasCapability(BasePermission):
    """`view.rights` maps actions (or "read", "write") to capabilities; a write without a right is refused."""

    def has_permission(self, request: Request, view: Any) -> bool:
        method = (request.method or "").lower()
        if method not in view.http_method_names or not hasattr(view, method):
            return True  # the view has no such method and says so itself
        user = request.user
        if not user or not user.is_authenticated:
            return False
        wanted = right_of(view, request)
        if wanted is None:
            return True
        if any(user.can(one) for one in wanted):
            return True
        if wanted:
            self.message = user.why_not(wanted[0])
        return False


def right_of(view: Any, request: Request) -> tuple[str, ...] | None:
    """The capabilities of which one is needed; None where being logged in is enough, empty for nobody."""
    rights: dict[str, Any] = getattr(view, "rights", {})
    action = getattr(view, "action", None) or (request.method or "").lower()
    is_read = request.method in SAFE_METHODS
    wanted = rights.get(action, rights.get("read", READ) if is_read else rights.get("write", ()))
    if wanted is None:
        return None
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)
