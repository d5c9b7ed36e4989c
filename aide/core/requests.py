"""The outermost middleware: a request id for the log and the answer, and one log line for each request."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from aide.core.metrics import count_request

logger = structlog.get_logger(__name__)

_GOOD_ID = re.compile(r"^[A-Za-z0-9._\-]{1,64}\Z")
_QUIET = ("/health/", "/static/", "/metrics")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of the request that is being answered, or an empty text outside of one."""
    return _current.get()


def client_address(request: HttpRequest) -> str:
    """The address a request came from; the last one that a trusted proxy saw, if there is such a proxy."""
    if settings.SECURE_PROXY_SSL_HEADER:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-1].strip()
        if forwarded:
            return forwarded[:64]
    return request.META.get("REMOTE_ADDR", "")[:64]


class RequestContextMiddleware:
    """Takes a well-formed `X-Request-ID` or makes one, and gives it back; logs the path without its query."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _GOOD_ID.match(given) else uuid.uuid4().hex
        token = _current.set(request_id)
        started = time.perf_counter()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        path = request.path
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id
            count_request(request, response, seconds=time.perf_counter() - started)
            if not path.startswith(_QUIET):
                user = getattr(request, "user", None)
                logger.info(
                    "request",
                    method=request.method,
                    path=path[:300],
                    status=response.status_code,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                    user_id=getattr(user, "pk", None),
                )
            return response
        finally:
            structlog.contextvars.clear_contextvars()
            _current.reset(token)
