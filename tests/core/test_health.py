"""Health and metrics."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone

from aide.work.models import WorkerBeat
from tests.factories import make_api_key, make_service

pytestmark = pytest.mark.django_db


def test_live_needs_nothing(client):
    assert client.get("/health/live").json() == {"status": "ok"}


def test_ready_tells_of_every_part(client, settings):
    settings.AIDE_BROKER_URL, settings.AIDE_KAFKA_SERVERS = "", []
    found = client.get("/health/ready").json()
    assert found["status"] == "degraded"
    assert found["checks"]["database"]["status"] == "ok"
    assert found["checks"]["broker"]["status"] == found["checks"]["kafka"]["status"] == "off"
    assert found["checks"]["worker"]["alive"] == 0
    WorkerBeat.objects.create(name="w", seen_at=timezone.now())
    assert client.get("/health/ready").json()["status"] == "ok"


def test_a_broker_or_kafka_that_is_away_is_said(client, settings):
    settings.AIDE_BROKER_URL, settings.AIDE_KAFKA_SERVERS = "redis://127.0.0.1:1/0", ["127.0.0.1:1", "x"]
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    checks = answer.json()["checks"]
    assert checks["broker"]["status"] == checks["kafka"]["status"] == "failing"


def test_without_a_database_it_is_not_ready(client, monkeypatch):
    def broken(*_args, **_kwargs):
        raise DatabaseError

    monkeypatch.setattr(connection, "cursor", broken)
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert answer["Retry-After"]


def test_metrics_are_open_on_loopback_and_need_a_key_elsewhere():
    here = Client(REMOTE_ADDR="127.0.0.1")
    here.get("/api/v1/systems")
    text = here.get("/metrics").content.decode()
    assert "aide_http_requests_total" in text
    assert 'aide_work_items{state="queued"}' in text
    away = Client(REMOTE_ADDR="10.1.2.3")
    assert away.get("/metrics").status_code == 401
    assert here.get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"}).status_code == 401
    for scope, status in (("registry:read", 200), ("lineage:write", 403)):
        secret = make_api_key(make_service(), scope)[1]
        assert away.get("/metrics", headers={"Authorization": f"Bearer {secret}"}).status_code == status
