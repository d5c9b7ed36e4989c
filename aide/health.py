"""`/health/live`, `/health/ready` and `/metrics`: whether the process is up, can work, and how much it does."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
from collections.abc import Callable, Iterable
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from aide.accounts.keys import find_key
from aide.core.metrics import REGISTRY
from aide.core.problems import problem_response
from aide.work.models import WorkerBeat, WorkItem
from lineage import outbox
from lineage.models import OutboxMessage

logger = structlog.get_logger(__name__)

Check = dict[str, Any]
WORKER_SILENCE = dt.timedelta(seconds=60)
SOCKET_SECONDS = 1.0


@require_GET
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_GET
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """200 when requests can be served; what else is not well makes it `degraded`. 503 without a database."""
    checks = {"database": _database()}
    usable = checks["database"]["status"] == "ok"
    checks["broker"] = _broker()
    checks["kafka"] = _kafka()
    checks["worker"] = _guarded(_worker) if usable else _unknown()
    checks["outbox"] = _guarded(_outbox) if usable else _unknown()
    well = all(check["status"] in {"ok", "off"} for check in checks.values())
    status = "ok" if well else ("degraded" if usable else "unavailable")
    response = JsonResponse({"status": status, "checks": checks}, status=200 if usable else 503)
    response.keep_body = True  # type: ignore[attr-defined]
    if not usable:
        response["Retry-After"] = "5"
    return response


@require_GET
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text; open on loopback, elsewhere for an API key that may read."""
    if not _from_loopback(request):
        kind, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        key = find_key(secret.strip()) if kind.lower() == "bearer" else None
        if key is None:
            return problem_response(401)
        if "registry:read" not in key.scopes:
            return problem_response(403, detail="Metrics need an API key with the scope registry:read.")
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)


def _from_loopback(request: HttpRequest) -> bool:
    if "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META:
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _database() -> Check:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return {"status": "failing", "detail": "The database does not answer."}
    return {"status": "ok", "vendor": connection.vendor}


def _broker() -> Check:
    if not settings.AIDE_BROKER_URL:
        return {"status": "off", "detail": "Work runs inside the web process."}
    from kombu import Connection  # only where there is a broker
    from kombu.exceptions import KombuError

    try:
        with Connection(settings.AIDE_BROKER_URL, connect_timeout=SOCKET_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=SOCKET_SECONDS)
    except (OSError, KombuError):
        return {"status": "failing", "detail": "The broker does not answer. Work waits and is not lost."}
    except Exception as error:  # noqa: BLE001 (each transport has its own errors; the probe reports, never raises)
        logger.warning("broker probe failed", error=type(error).__name__)
        return {"status": "failing", "detail": "The broker does not answer. Work waits and is not lost."}
    return {"status": "ok"}


def _kafka() -> Check:
    if not settings.AIDE_KAFKA_SERVERS:
        return {"status": "off", "detail": "Events are written to the log only."}
    for server in settings.AIDE_KAFKA_SERVERS:
        host, _, port = server.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=SOCKET_SECONDS):
                return {"status": "ok"}
        except (OSError, ValueError, OverflowError):
            continue
    return {"status": "failing", "detail": "No Kafka server answers. Events are kept and will be sent later."}


def _worker() -> Check:
    since = timezone.now() - WORKER_SILENCE
    alive = WorkerBeat.objects.filter(seen_at__gt=since).count()
    waiting = WorkItem.objects.filter(state=WorkItem.State.QUEUED).count()
    if not alive:
        detail = "No worker is running, so crawls wait. Reviews and tagging still work."
        return {"status": "failing", "alive": 0, "waiting": waiting, "detail": detail}
    return {"status": "ok", "alive": alive, "waiting": waiting}


def _outbox() -> Check:
    counts = _outbox_counts()
    found: Check = {"status": "ok", **counts}
    oldest = outbox.oldest_waiting()
    if oldest is not None:
        found["oldest_pending_seconds"] = int((timezone.now() - oldest).total_seconds())
    if found["dead"]:
        found |= {"status": "failing", "detail": "Some messages could not be delivered. Look at the outbox."}
    return found


def _outbox_counts() -> dict[str, int]:
    """Undelivered messages by status; each count is read from an index that holds no others."""
    rows = OutboxMessage.objects
    return {status: rows.filter(status=status).count() for status in ("pending", "dead")}


def _guarded(check: Callable[[], Check]) -> Check:
    try:
        return check()
    except DatabaseError:
        return _unknown()


def _unknown() -> Check:
    return {"status": "unknown", "detail": "The database does not answer this."}


class _DatabaseCollector(Collector):
    """Gauges that are read from the database when Prometheus asks."""

    def describe(self) -> Iterable[Any]:
        return ()

    def collect(self) -> Iterable[Any]:
        try:
            states = dict(WorkItem.objects.values_list("state").annotate(n=Count("pk")).order_by())
            alive = WorkerBeat.objects.filter(seen_at__gt=timezone.now() - WORKER_SILENCE).count()
            undelivered = _outbox_counts()
        except DatabaseError:
            return
        work = GaugeMetricFamily("aide_work_items", "Pieces of work by state.", labels=["state"])
        for state in WorkItem.State.values:
            work.add_metric([state], states.get(state, 0))
        yield work
        yield GaugeMetricFamily("aide_workers_alive", "Workers heard of within a minute.", value=alive)
        messages = GaugeMetricFamily("aide_outbox_messages", "Undelivered messages.", labels=["status"])
        for status, count in undelivered.items():
            messages.add_metric([status], count)
        yield messages


REGISTRY.register(_DatabaseCollector())
