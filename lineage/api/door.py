"""A short way into a view for what programs send all day: a plain POST of JSON with an API key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from aide.accounts.roles import Capability
from aide.accounts.senders import find_sender
from aide.core.errors import Forbidden
from aide.core.problems import problem_response, translate

C = Capability
_BEARER = "Bearer aide_"
_JSON = frozenset({"application/json", "application/json; charset=utf-8", "application/json;charset=utf-8"})
_ANY_FORM = _JSON | {"", "*/*"}


def door(view: Callable[..., Any], take: Callable[[bytes], tuple[int, Any]]) -> Callable[..., Any]:
    """The view, with the short way: `take` gives the status and the content of the answer to a body.

    Both ways share every rule; the short one leaves out what a plain request does not use.
    """

    @csrf_exempt
    def enter(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return _receive(request, take) if _is_plain(request) else view(request, *args, **kwargs)

    for name in ("cls", "actions", "initkwargs", "view_class"):
        if hasattr(view, name):
            setattr(enter, name, getattr(view, name))
    return enter


def _is_plain(request: HttpRequest) -> bool:
    meta = request.META
    return (
        request.method == "POST"
        and meta.get("HTTP_AUTHORIZATION", "").startswith(_BEARER)
        and meta.get("CONTENT_TYPE", "").lower() in _JSON
        and meta.get("HTTP_ACCEPT", "").strip().lower() in _ANY_FORM
        and not meta.get("QUERY_STRING")
        and "HTTP_IDEMPOTENCY_KEY" not in meta
        and meta.get("CONTENT_LENGTH", "") not in {"", "0"}
    )


def _receive(request: HttpRequest, take: Callable[[bytes], tuple[int, Any]]) -> HttpResponse:
    try:
        user = find_sender(request.META["HTTP_AUTHORIZATION"].removeprefix("Bearer "))
        if user is None:
            return problem_response(401, detail="The API key is not known, or it is expired or revoked.")
        request.user = user
        if not user.can(C.SEND_EVENTS):
            raise Forbidden("FORBIDDEN", user.why_not(C.SEND_EVENTS))
        status, content = take(request.body)
        return HttpResponse(msgspec.json.encode(content), status=status, content_type="application/json")
    except Exception as error:  # noqa: BLE001 (whatever was raised becomes a problem, as in every view; bugs are logged)
        code, values, headers = translate(error)
        answer = problem_response(code, **values)
        for name, value in headers.items():
            answer[name] = value
        return answer
