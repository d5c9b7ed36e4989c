"""The pages of crawl runs and schedules: words for every state, refusals in words, and who may do what."""

from __future__ import annotations

import html
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from aide.audit.models import AuditEntry
from crawling import plan_words
from crawling.models import CrawlPlan, CrawlRun
from crawling.plan_words import Rhythm
from registry.models import System
from tests.admin.conftest import Screen
from tests.admin.test_pages import check_markup
from tests.factories import make_flavor, make_system, make_user

Status = CrawlRun.Status


@pytest.fixture
def source(system: System, tmp_path: Path) -> System:
    """A system that could be crawled: its technology has types, its connection is a URL."""
    system.connection_url = "postgresql://nobody@127.0.0.1:1/nothing"
    system.save()
    return system


def make_run(system: System, status: str, **values: Any) -> CrawlRun:
    ended = status not in CrawlRun.ACTIVE
    values.setdefault("started_at", None if status == Status.QUEUED else timezone.now())
    return CrawlRun.objects.create(
        system=system,
        status=status,
        trigger=values.pop("trigger", CrawlRun.Trigger.SCHEDULE),
        finished_at=timezone.now() if ended else None,
        **values,
    )


def page(client: Screen, run: CrawlRun) -> str:
    answer = client.get(reverse("admin:crawling_crawlrun_change", args=[run.pk]))
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def fragment(client: Screen, run: CrawlRun, said: str = "") -> Any:
    return client.get(reverse("admin:crawling_run_progress", args=[run.pk]), {"said": said})


def test_crawl_now_queues_a_run_and_a_second_is_refused_with_a_link(source: System) -> None:
    engineer = Screen(make_user("engineer"))
    answer = engineer.post(reverse("admin:crawling_start"), {"system": source.pk}, follow=True)
    run = CrawlRun.objects.get()
    assert f"A crawl of {source.name} was started." in answer.content.decode()
    assert (run.trigger, run.started_by) == (CrawlRun.Trigger.PERSON, engineer.user)
    again = html.unescape(
        engineer.post(reverse("admin:crawling_start"), {"system": source.pk}, follow=True).content.decode()
    )
    assert "one at a time" in again
    assert f'<a href="/admin/crawling/crawlrun/{run.pk}/change/">Open run {run.pk}</a>' in again
    assert CrawlRun.objects.count() == 1


def test_a_flavor_without_types_is_refused_in_words(db: None) -> None:
    make_flavor("oracle", types=False)
    system = make_system("ora", flavor="oracle", connection_url="oracle://h/x")
    answer = Screen(make_user("engineer")).post(
        reverse("admin:crawling_start"), {"system": system.pk}, follow=True
    )
    assert "has no data types yet, so a crawl would fail" in answer.content.decode()


@pytest.mark.parametrize(
    ("role", "may"), [("viewer", False), ("steward", False), ("approver", True), ("admin", True)]
)
def test_who_may_start_cancel_and_retry(source: System, role: str, may: bool) -> None:
    client = Screen(make_user(role))
    failed = make_run(source, Status.FAILED, error="No.", error_code="refused")
    text = page(client, failed)
    assert ("Retry</button>" in text) is may
    for name, arguments, body in (
        ("crawling_start", [], {"system": source.pk}),
        ("crawling_run_cancel", [failed.pk], {}),
        ("crawling_run_retry", [failed.pk], {}),
    ):
        url = reverse(f"admin:{name}", args=arguments)
        assert client.get(url).status_code == 405
        assert (client.post(url, body).status_code == 403) is not may


def test_a_queued_run_says_when_no_worker_is_there(source: System) -> None:
    run = make_run(source, Status.QUEUED)
    client = Screen(make_user("engineer"))
    assert "Waiting for a worker." in page(client, run)
    CrawlRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(minutes=3))
    assert "No worker has taken this. Workers alive: 0." in page(client, run)


def test_progress_is_told_until_the_end_and_announced_at_each_quarter_only(source: System) -> None:
    client = Screen(make_user("viewer"))
    numbers = {"schemas_done": 7, "schemas_total": 12, "tables_done": 214, "tables_total": 380}
    run = make_run(source, Status.RUNNING, current_object="crm.orders", **numbers)
    answer = fragment(client, run)
    text = html.unescape(answer.content.decode())
    assert answer.status_code == 200
    for words in (
        "7 of 12 schemas, 214 of 380 tables and views",
        'value="56"',
        "crm.orders",
        "Running, 50 % read",
    ):
        assert words in text
    assert 'hx-trigger="every 2s"' in text
    assert "run-status" in text
    assert "run-status" not in fragment(client, run, said="Running, 50 % read").content.decode()
    assert len(answer.content) < 5 * 1024
    CrawlRun.objects.filter(pk=run.pk).update(status=Status.COMPLETED, finished_at=timezone.now())
    last = fragment(client, run)
    assert last.status_code == 286
    assert "hx-trigger" not in last.content.decode()
    assert "Completed" in last.content.decode()


def test_a_cancelled_run_stops_after_the_table_at_hand(source: System) -> None:
    client = Screen(make_user("engineer", full_name="Eve Engineer"))
    run = make_run(source, Status.RUNNING)
    text = html.unescape(
        client.post(reverse("admin:crawling_run_cancel", args=[run.pk]), follow=True).content.decode()
    )
    assert "Stopping after the current table (up to 30 s)." in text
    assert ">Cancel</button>" not in text
    CrawlRun.objects.filter(pk=run.pk).update(status=Status.CANCELLED, finished_at=timezone.now())
    assert "Cancelled by Eve Engineer. Nothing of it was proposed." in page(client, run)
    done = make_run(source, Status.COMPLETED)
    refused = client.post(reverse("admin:crawling_run_cancel", args=[done.pk]), follow=True)
    assert f"Run {done.pk} has ended: completed." in refused.content.decode()


def test_a_failed_run_says_why_and_what_to_do_next(source: System) -> None:
    client = Screen(make_user("engineer"))
    run = make_run(source, Status.FAILED, error="The password was refused.", error_code="auth_failed")
    text = page(client, run)
    for words in ("The password was refused.", "Check the log-in in the URL", "Retry</button>"):
        assert words in text
    check_markup(text, "run")
    client.post(reverse("admin:crawling_run_retry", args=[run.pk]))
    fresh = CrawlRun.objects.latest("pk")
    assert fresh.retry_of == run
    assert f"Run {fresh.pk}</a> tried it again" in page(client, run)


def test_what_was_not_read_is_listed_with_its_reason(source: System) -> None:
    coverage = {
        "schemas": [
            {"name": "crm", "status": "listed"},
            {"name": "hr", "status": "failed", "reason": "permission denied"},
        ],
        "listed": 3,
        "read": 1,
        "skipped": [{"schema": "crm", "name": "old", "reason": "a foreign table"}],
        "failed": [{"schema": "crm", "name": "big", "reason": "time ran out"}],
    }
    run = make_run(source, Status.COMPLETED_WITH_ERRORS, coverage=coverage, summary={"new_datasets": 1})
    text = page(Screen(make_user("engineer")), run)
    for words in (
        "permission denied",
        "crm.old",
        "a foreign table",
        "crm.big",
        "time ran out",
        "Retry what failed",
    ):
        assert words in text
    assert "1</span> new dataset" in text


def test_the_report_is_a_file_to_keep(source: System) -> None:
    from crawling import report

    client = Screen(make_user("viewer"))
    told = report.build([], system=source.code, run_id=1)
    run = make_run(source, Status.COMPLETED, report=told, summary=told["summary"])
    url = reverse("admin:crawling_run_report", args=[run.pk])
    text = client.get(url)
    assert text.content.decode().startswith("=== AIDE Crawler Diff Report ===")
    assert text["Content-Disposition"] == f'attachment; filename="{source.code}-run-{run.pk}.txt"'
    assert client.get(url, {"format": "json"}).json()["summary"] == told["summary"]
    assert (
        client.get(
            reverse("admin:crawling_run_report", args=[make_run(source, Status.FAILED).pk])
        ).status_code
        == 404
    )


def test_the_list_finds_what_needs_attention(source: System) -> None:
    client = Screen(make_user("engineer"))
    bad = make_run(source, Status.FAILED, error="Refused.")
    url = reverse("admin:crawling_crawlrun_changelist")
    listed = client.get(url, {"state": "failed"}).content.decode()
    assert f"Run {bad.pk}" in listed
    assert "Refused." in listed
    good = make_run(source, Status.COMPLETED, summary={"type_changes": 2})
    assert f"Run {bad.pk}" not in client.get(url, {"state": "failed"}).content.decode()
    everything = client.get(url).content.decode()
    assert f"Run {good.pk}" in everything
    assert "2 type changes" in everything
    check_markup(everything, "runs")


@pytest.mark.parametrize(
    ("rhythm", "cron", "words"),
    [
        (Rhythm("hour", "00:15"), "15 * * * *", "every hour at minute 15, UTC"),
        (Rhythm("day", "02:05"), "5 2 * * *", "every day at 02:05, UTC"),
        (Rhythm("workdays", "23:00"), "0 23 * * 1-5", "Monday to Friday at 23:00, UTC"),
        (Rhythm("week", "04:30", weekday="0"), "30 4 * * 0", "every Sunday at 04:30, UTC"),
        (Rhythm("month", "01:00"), "0 1 1 * *", "on the first of every month at 01:00, UTC"),
        (
            Rhythm("custom", cron="*/5 1-3 * * *"),
            "*/5 1-3 * * *",
            "by the cron expression */5 1-3 * * *, UTC",
        ),
    ],
)
def test_a_rhythm_and_its_cron_expression_say_the_same(rhythm: Rhythm, cron: str, words: str) -> None:
    assert plan_words.to_cron(rhythm) == cron
    assert plan_words.to_cron(plan_words.from_cron(cron)) == cron
    assert plan_words.in_words(cron, "UTC") == words


def test_the_next_time_is_told_in_the_plan_s_own_zone() -> None:
    now = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
    berlin = "Europe/Berlin"
    assert (
        plan_words.next_in_words(datetime(2026, 12, 1, 1, 0, tzinfo=UTC), berlin, now=now) == "tomorrow 02:00"
    )
    assert (
        plan_words.next_in_words(datetime(2026, 11, 30, 22, 30, tzinfo=UTC), berlin, now=now) == "today 23:30"
    )
    assert (
        plan_words.next_in_words(datetime(2026, 12, 4, 1, 0, tzinfo=UTC), berlin, now=now)
        == "Fri 04 Dec 02:00"
    )


def test_a_schedule_is_made_in_words_and_recorded(source: System) -> None:
    client = Screen(make_user("engineer"))
    url = reverse("admin:crawling_crawlplan_add")
    values = {
        "system": source.pk, "is_active": "on", "frequency": "day", "time": "02:00", "weekday": "1",
        "time_zone": "Europe/Berlin", "exclude_tables": "crm.tmp_*",
    }  # fmt: skip
    answer = client.post(url, values, follow=True)
    plan = CrawlPlan.objects.get()
    assert (plan.cron, plan.time_zone) == ("0 2 * * *", "Europe/Berlin")
    assert plan.scope["exclude_tables"] == ["crm.tmp_*"]
    assert plan.next_due_at is not None
    assert plan.next_due_at > timezone.now()
    assert "Every day at 02:00, Europe/Berlin" in answer.content.decode()
    assert AuditEntry.objects.filter(action="crawl_plan.create", system_code=source.code).exists()
    text = client.get(reverse("admin:crawling_crawlplan_change", args=[plan.pk])).content.decode()
    assert "Every day at 02:00, Europe/Berlin. Next: " in text
    check_markup(text, "schedule")
    wrong = client.post(url, {**values, "frequency": "custom", "cron": "61 * * * *"})
    assert "Write five fields" in wrong.content.decode()


def test_only_those_who_manage_systems_change_schedules(source: System) -> None:
    for role in ("viewer", "steward", "approver"):
        assert Screen(make_user(role)).get(reverse("admin:crawling_crawlplan_add")).status_code == 403
