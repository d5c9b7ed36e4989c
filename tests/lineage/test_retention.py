"""What is old goes in small batches; what is undelivered stays."""

from __future__ import annotations

import datetime as dt
import time

import pytest
from django.db import connection
from django.utils import timezone

from aide.work.models import WorkItem
from lineage import events, outbox, retention, tasks, waking
from lineage.models import Event, OutboxMessage

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def filled():
    days = [0.1, 1, 29, 31, 40, 400]
    body = [
        {"resource": "r", "event_id": f"{day}", "timestamp": (NOW - dt.timedelta(days=day)).timestamp()}
        for day in days
    ]
    events.accept(body)
    OutboxMessage.objects.filter(event_id__in=["31", "40"]).update(
        status="delivered", delivered_at=NOW - dt.timedelta(days=8)
    )
    OutboxMessage.objects.filter(event_id="29").update(status="delivered", delivered_at=NOW)
    OutboxMessage.objects.filter(event_id="400").update(status="dead")
    OutboxMessage.objects.update(created_at=NOW - dt.timedelta(days=100))


def test_events_go_by_the_time_they_happened(filled, settings):
    settings.AIDE_EVENT_RETENTION_DAYS = 30
    assert retention.is_due()
    assert retention.prune(batch=1, pause=0) == {"events": 3, "messages": 2}
    assert set(Event.objects.values_list("event_id", flat=True)) == {"0.1", "1", "29"}
    assert not retention.is_due()


def test_without_days_every_event_is_kept_and_undelivered_messages_always_are(filled, settings):
    settings.AIDE_EVENT_RETENTION_DAYS = 0
    assert retention.prune(pause=0) == {"events": 0, "messages": 2}
    assert Event.objects.count() == 6
    assert set(OutboxMessage.objects.values_list("event_id", "status")) == {
        *(("0.1", "pending"), ("1", "pending"), ("29", "delivered"), ("400", "dead"))
    }


def test_pruning_stops_when_its_time_is_over(filled, settings):
    settings.AIDE_EVENT_RETENTION_DAYS = 30
    assert retention.prune(batch=1, seconds=0)["events"] == 0
    started = time.monotonic()
    retention.prune(batch=1, pause=0.05)
    assert time.monotonic() - started >= 0.15


def test_the_tick_queues_a_pruning_only_when_something_is_due(filled, settings):
    settings.AIDE_EVENT_RETENTION_DAYS = 30
    tasks.prune_when_due()
    tasks.prune_when_due()
    assert WorkItem.objects.filter(task="lineage.prune").count() == 1
    WorkItem.objects.all().delete()
    retention.prune(pause=0)
    tasks.prune_when_due()
    assert not WorkItem.objects.filter(task="lineage.prune").exists()


def test_the_tick_forwards_only_where_no_relay_does(filled, settings):
    WorkItem.objects.all().delete()
    settings.AIDE_BROKER_URL = ""
    tasks.forward_leftovers()
    assert WorkItem.objects.filter(task=waking.TASK).count() == 1
    WorkItem.objects.all().delete()
    settings.AIDE_BROKER_URL = "redis://127.0.0.1:1/0"
    from lineage import leases

    leases.hold("relay", seconds=30)
    tasks.forward_leftovers()
    assert not WorkItem.objects.exists()
    leases.release("relay")
    tasks.forward_leftovers()
    assert WorkItem.objects.filter(task=waking.TASK).count() == 1


def test_work_of_this_process_forwards_to_the_log(filled, settings, monkeypatch):
    settings.AIDE_KAFKA_SERVERS = []
    monkeypatch.setattr(tasks, "_relay", None)
    tasks.forward()
    assert not OutboxMessage.objects.filter(status="pending").exists()
    assert set(OutboxMessage.objects.filter(sink="log").values_list("event_id", flat=True)) == {"0.1", "1"}
    assert outbox.oldest_waiting() is None


def test_writers_wake_the_relay_at_most_once_a_second(
    monkeypatch, settings, django_capture_on_commit_callbacks
):
    settings.AIDE_BROKER_URL = ""
    monkeypatch.setattr(waking, "_last", -10.0)
    WorkItem.objects.all().delete()
    for n in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            events.accept([{"resource": "r", "event_id": f"e{n}"}])
    assert WorkItem.objects.filter(task=waking.TASK).count() == 1


def test_pruning_reads_by_index(filled):
    if connection.vendor != "postgresql":
        pytest.skip("plans are PostgreSQL's; `make test` runs this in its second half")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        for statement in (retention._EVENTS, retention._MESSAGES):
            cursor.execute(f"EXPLAIN {statement}", [NOW, 10])
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Sort" not in plan
            assert "lineage_event_time" in plan or "lineage_outboxmessage_sent" in plan
