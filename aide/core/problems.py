"""Errors on the wire: every refusal becomes `application/problem+json`, whoever raised it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import (
    BadRequest,
    ObjectDoesNotExist,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    ValidationError,
)
from django.db import DataError, IntegrityError, OperationalError
from django.db.models import Model, ProtectedError, RestrictedError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.request import RawPostDataException
from django.shortcuts import render
from django.views import defaults
from rest_framework import exceptions as rest
from rest_framework.response import Response

from aide.core.errors import DomainError
from aide.core.requests import current_request_id

logger = structlog.get_logger(__name__)

PROBLEM_TYPE = "application/problem+json"
API_PREFIX = "/api/v1"

CODES: dict[int, str] = {
    400: "MALFORMED_REQUEST",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "NOT_ACCEPTABLE",
    409: "CONFLICT",
    413: "PAYLOAD_TOO_LARGE",
    414: "URI_TOO_LONG",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMITED",
    431: "HEADERS_TOO_LARGE",
    500: "INTERNAL_ERROR",
    503: "UNAVAILABLE",
}
SENTENCES: dict[int, str] = {
    400: "The request cannot be read.",
    401: "Log in first: send a bearer token or an API key.",
    403: "You may not do this.",
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
    406: "This address does not answer in a form that the request accepts.",
    409: "The present state does not allow this.",
    413: "The body is too large.",
    414: "The address is too long.",
    415: "The body's content type is not taken here.",
    422: "The input is not valid.",
    429: "Too many requests. Try again later.",
    431: "The headers are too large or too many.",
    500: "Something broke on our side. Nothing was saved.",
    503: "The service is not available at the moment. Try again later.",
}
RETRY_AFTER_SECONDS = 30
TOO_LONG_FOR_INDEX = "54000"  # PostgreSQL's program_limit_exceeded


class ApiValidationError(rest.APIException):
    """Raised by faces for input that breaks a rule of the wire, with its list of field errors."""

    status_code = 422

    def __init__(self, errors: Iterable[Mapping[str, str]], detail: str = "") -> None:
        self.errors = [dict(e) for e in errors]
        super().__init__(detail or sentence_of(self.errors))


def sentence_of(errors: list[dict[str, str]]) -> str:
    if not errors:
        return SENTENCES[422]
    first = errors[0]
    where = f"{first['field']}: " if first.get("field") else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{where}{first['detail']}{more}"


def problem(
    status: int,
    *,
    code: str = "",
    detail: str = "",
    errors: Iterable[Mapping[str, str]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of an error answer."""
    try:
        title = HTTPStatus(status).phrase
    except ValueError:
        title = "Error"
    code = code or CODES.get(status, "ERROR")
    return {
        "type": f"urn:aide:error:{code.lower().replace('_', '-')}",
        "title": title,
        "status": status,
        "detail": detail or SENTENCES.get(status, "The request was refused."),
        "error_code": code,
        "request_id": current_request_id(),
        "errors": list(errors),
        **(extra or {}),
    }


def problem_response(status: int, **values: Any) -> HttpResponse:
    """The whole error answer, for code outside of the REST framework."""
    body = json.dumps(problem(status, **values))
    response = HttpResponse(body, status=status, content_type=PROBLEM_TYPE)
    response["Content-Length"] = str(len(response.content))
    if status in {429, 503}:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="aide"'
    return response


def flatten(detail: Any, path: str = "") -> list[dict[str, str]]:
    """The REST framework's nested error details as a flat list of {field, code, detail}."""
    if isinstance(detail, Mapping):
        found: list[dict[str, str]] = []
        for key, value in detail.items():
            found += flatten(value, ".".join(part for part in (path, str(key)) if part))
        return found
    if isinstance(detail, list):
        found = []
        for position, value in enumerate(detail):
            nested = isinstance(value, Mapping | list)
            if nested and not value:
                continue
            found += flatten(value, f"{path}.{position}" if nested and path else path)
        return found
    return [{"field": path, "code": str(getattr(detail, "code", "invalid")), "detail": str(detail)}]


def django_errors(error: ValidationError) -> list[dict[str, str]]:
    """The messages of a model's or form's `ValidationError` as a flat list."""
    found = []
    by_field = error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
    for field, items in by_field.items():
        name = "" if field == "__all__" else field
        for item in items:
            for text in item.messages:
                found.append({"field": name, "code": str(item.code or "invalid"), "detail": text})
    return found


def entity_of(view: Any) -> tuple[str, str]:
    """(CODE_PREFIX, words) of the entity that a view is about, or empty texts."""
    model: type[Model] | None = getattr(getattr(view, "queryset", None), "model", None)
    if model is None:
        return "", ""
    name = model.__name__
    words = "".join(
        f" {ch.lower()}"
        if ch.isupper() and i and not (name[i - 1].isupper() and not name[i + 1 : i + 2].islower())
        else ch.lower()
        for i, ch in enumerate(name)
    )
    return words.strip().upper().replace(" ", "_"), words.strip()


class ItemRefused(Exception):  # noqa: N818 (read as what happened)
    """One item of a list is refused, by the error that is its cause; nothing of the list is kept."""

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(position)
        self.position = position
        self.cause = cause


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response:
    """The REST framework's hook: whatever a view raised becomes a problem; a bug is logged and becomes 500."""
    view = context.get("view")
    status, values, headers = translate(exc, view)
    response = Response(problem(status, **values), status=status, content_type=PROBLEM_TYPE)
    for name, value in headers.items():
        response[name] = value
    return response


def translate(exc: Exception, view: Any = None) -> tuple[int, dict[str, Any], dict[str, str]]:
    """(status, values for `problem`, headers) for an exception."""
    prefix, words = entity_of(view)
    headers: dict[str, str] = {}
    if isinstance(exc, ItemRefused):
        return _at_item(exc, view)
    if isinstance(exc, DomainError):
        if exc.status in {429, 503}:
            headers["Retry-After"] = str(exc.extra.get("retry_after", RETRY_AFTER_SECONDS))
        if exc.status == 401:
            headers["WWW-Authenticate"] = 'Bearer realm="aide"'
        extra = {k: v for k, v in exc.extra.items() if k != "retry_after"}
        return (
            exc.status,
            {"code": exc.code, "detail": exc.detail, "errors": exc.errors, "extra": extra},
            headers,
        )
    if isinstance(exc, ApiValidationError):
        return 422, {"detail": str(exc.detail), "errors": exc.errors}, headers
    if isinstance(exc, rest.ValidationError):
        errors = flatten(exc.detail)
        if prefix and errors and all(error["code"] == "unique" for error in errors):
            return 409, _exists(prefix, words, errors), headers
        return 422, {"detail": sentence_of(errors), "errors": errors}, headers
    if isinstance(exc, ValidationError):
        errors = django_errors(exc)
        if prefix and errors and all(e["code"] in {"unique", "unique_together"} for e in errors):
            return 409, _exists(prefix, words, errors), headers
        return 422, {"detail": sentence_of(errors), "errors": errors}, headers
    if isinstance(exc, Http404 | rest.NotFound | ObjectDoesNotExist):
        if prefix:
            return 404, {"code": f"{prefix}_NOT_FOUND", "detail": f"There is no such {words}."}, headers
        return 404, {}, headers
    if isinstance(exc, rest.NotAuthenticated | rest.AuthenticationFailed):
        headers["WWW-Authenticate"] = getattr(exc, "auth_header", "") or 'Bearer realm="aide"'
        wanted = isinstance(exc, rest.NotAuthenticated)
        return 401, {"detail": "" if wanted else str(exc.detail)}, headers
    if isinstance(exc, PermissionDenied | rest.PermissionDenied):
        text = str(getattr(exc, "detail", "") or exc)
        return 403, {"detail": text}, headers
    if isinstance(exc, rest.Throttled):
        headers["Retry-After"] = str(int(getattr(exc, "wait", None) or RETRY_AFTER_SECONDS) + 1)
        return 429, {}, headers
    if isinstance(exc, RequestDataTooBig):
        return 413, {}, headers
    if isinstance(exc, UnreadablePostError | RawPostDataException):
        return 400, {"detail": "The body ended before it was complete."}, headers
    if isinstance(exc, rest.APIException):
        return exc.status_code, {"detail": str(exc.detail)}, headers
    if isinstance(exc, ProtectedError | RestrictedError):
        return 409, _has_dependents(exc), headers
    if isinstance(exc, IntegrityError):
        text = str(exc).lower()
        if "unique" in text or "duplicate" in text:
            return 409, _exists(prefix or "ENTITY", words or "entry", []), headers
        if "foreign key" in text:
            return (
                409,
                {"code": "HAS_DEPENDENT_ENTITIES", "detail": "Something still refers to this."},
                headers,
            )
        return 422, {"detail": "The values do not fit together."}, headers
    if isinstance(exc, DataError | OverflowError):
        return 422, {"detail": "A value is out of range."}, headers
    if isinstance(exc, RecursionError):
        return 400, {"detail": "The body is nested too deeply."}, headers
    if isinstance(exc, UnicodeError | BadRequest | SuspiciousOperation | TooManyFieldsSent):
        return 400, {"detail": "The request holds text that cannot be stored."}, headers
    if isinstance(exc, OperationalError) and getattr(exc.__cause__, "sqlstate", "") == TOO_LONG_FOR_INDEX:
        return 422, {"detail": "A text is too long for the database's indexes."}, headers
    if isinstance(exc, OperationalError):
        logger.warning("database unavailable", exc_info=exc)
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return 503, {}, headers
    logger.error("unhandled error", exc_info=exc)
    return 500, {}, headers


def _at_item(exc: ItemRefused, view: Any) -> tuple[int, dict[str, Any], dict[str, str]]:
    """What is wrong with one item of many, with its place in the list before everything that is said of it."""
    status, values, headers = translate(exc.cause, view)
    place = f"items.{exc.position}"
    said = problem(status, **values)
    errors = [{**error, "field": f"{place}.{error['field']}".rstrip(".")} for error in said["errors"]]
    errors = errors or [{"field": place, "code": said["error_code"].lower(), "detail": said["detail"]}]
    return status, {**values, "detail": f"Item {exc.position}: {said['detail']}", "errors": errors}, headers


def _exists(prefix: str, words: str, errors: list[dict[str, str]]) -> dict[str, Any]:
    article = "an" if words[:1] in "aeiou" else "a"
    detail = f"There is already {article} {words} with these values."
    return {"code": f"{prefix}_ALREADY_EXISTS", "detail": detail, "errors": errors}


def _has_dependents(exc: ProtectedError | RestrictedError) -> dict[str, Any]:
    rows = exc.protected_objects if isinstance(exc, ProtectedError) else exc.restricted_objects
    counts: dict[str, int] = {}
    for row in rows:
        words = str(row._meta.verbose_name_plural if isinstance(row, Model) else "rows")
        counts[words] = counts.get(words, 0) + 1
    listed = ", ".join(f"{count} {words}" for words, count in sorted(counts.items()))
    return {"code": "HAS_DEPENDENT_ENTITIES", "detail": f"Other things still need this: {listed}."}


class ProblemMiddleware:
    """Turns error pages made by Django itself into problems; HTML stays only outside the API, for browsers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code < 400:
            return response
        if response.get("Content-Type", "").startswith(PROBLEM_TYPE):
            return response
        if getattr(response, "keep_body", False):  # health says in its own words what is wrong
            return response
        if not wants_problem(request):
            return response
        replaced = problem_response(response.status_code)
        for name in ("Allow", "WWW-Authenticate", "Retry-After"):
            if name in response:
                replaced[name] = response[name]
        return replaced


def wants_problem(request: HttpRequest) -> bool:
    """Whether an error of this request must be JSON: always in the API, else unless Accept names text/html."""
    if is_api(request.path):
        return True
    return "text/html" not in request.META.get("HTTP_ACCEPT", "").lower()


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The project's `handler400`; like its siblings it draws a page for browsers only."""
    return problem_response(400) if wants_problem(request) else defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if wants_problem(request):
        return problem_response(403, detail=str(exception))
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return problem_response(404) if wants_problem(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if wants_problem(request):
        return problem_response(500)
    again = request.get_full_path() if request.method == "GET" else ""
    context = {"reference": current_request_id(), "again": again}
    return render(request, "500.html", context, status=500)


def is_api(path: str) -> bool:
    return path == API_PREFIX or path.startswith(API_PREFIX + "/")
