"""What is counted about requests, for Prometheus; other apps add their own collectors to `REGISTRY`."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector

REGISTRY = CollectorRegistry(auto_describe=True)
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)

_requests = Counter(
    "aide_http_requests_total", "Answered requests.", ["method", "route", "status"], registry=REGISTRY
)
_seconds = Histogram(
    "aide_http_request_seconds",
    "Time to answer.",
    ["method", "route"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def count_request(request: HttpRequest, response: HttpResponse, *, seconds: float) -> None:
    """Counts by route, never by path, so that the number of series stays small."""
    match = request.resolver_match
    route = match.route if match is not None else "none"
    method = request.method if request.method in _METHODS else "other"
    _requests.labels(method, route, str(response.status_code)).inc()
    _seconds.labels(method, route).observe(seconds)
