"""The middleware that tells the audit log by what way a request came."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from aide.audit.origin import Origin, acting
from aide.core.problems import is_api
from aide.core.requests import client_address, current_request_id


class OriginMiddleware:
    """Everything that a request does is recorded with its way in, id, address and agent."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        origin = Origin(
            via="api" if is_api(request.path) else "ui",
            request_id=current_request_id(),
            ip=client_address(request),
            user_agent=request.META.get("HTTP_USER_AGENT", "")[:400].replace("\x00", ""),
        )
        with acting(origin):
            return self.get_response(request)
