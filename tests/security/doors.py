"""Every route of the product, from the URL resolver, so that a new one cannot be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

API = "api/v1/"
METHODS = ("get", "post", "put", "patch", "delete")


def routes() -> Iterator[tuple[str, URLPattern]]:
    """(route as one text, pattern) of every view."""
    yield from _walk(get_resolver().url_patterns, "")


def _walk(patterns: list[Any], before: str) -> Iterator[tuple[str, URLPattern]]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _walk(each.url_patterns, route)
        else:
            yield route, each


def api_doors() -> list[str]:
    """`GET systems/{pk}` for every method of every endpoint."""
    found = []
    for route, pattern in routes():
        if route.startswith(API):
            plain = _plain(route.removeprefix(API))
            found += [f"{method.upper()} {plain}" for method in _methods(pattern.callback)]
    return found


def _plain(route: str) -> str:
    route = route.removeprefix("^").removesuffix("$")
    route = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", route)
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)


def _methods(view: Any) -> list[str]:
    cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
    assert cls is not None, f"{view} is no view of the REST framework"
    actions = getattr(view, "actions", None)
    allowed = cls.http_method_names
    return [m for m in METHODS if m in allowed and (m in actions if actions else hasattr(cls, m))]


def other_doors() -> list[str]:
    """Routes outside of the API, as they are written."""
    return [route for route, _ in routes() if not route.startswith(API)]
