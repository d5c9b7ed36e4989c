"""Home: what waits, for whom, in how few statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from aide.work.models import WorkerBeat
from crawling.models import Change, CrawlPlan, CrawlRun, Decision, Proposal
from registry.models import Dataset, System
from tests.admin.conftest import Screen

HOME = "admin:index"


def make_changes(system: System, *risks: str, state: str = Change.State.OPEN) -> list[Change]:
    """One live proposal with a change of each risk."""
    run = CrawlRun.objects.create(
        system=system, trigger=CrawlRun.Trigger.PERSON, status=CrawlRun.Status.COMPLETED
    )
    proposal = Proposal.objects.create(
        system=system,
        dataset_name=f"public.table_{run.pk}",
        origin=Proposal.Origin.CRAWL,
        crawl_run=run,
        status=Proposal.Status.OPEN,
    )
    return [
        Change.objects.create(
            proposal=proposal,
            place=place,
            op=Change.Op.ADD_FIELD,
            dataset_name=proposal.dataset_name,
            field_path=f"column_{place}",
            risk=risk,
            why="Because.",
            rule="test",
            fingerprint=f"{run.pk}-{place}",
            state=state,
        )
        for place, risk in enumerate(risks)
    ]


def test_a_new_installation_shows_three_steps(screen: Callable[..., Screen]) -> None:
    page = screen("admin").get(reverse(HOME)).content.decode()
    assert "Add a system" in page
    assert "card-reviews" not in page


def test_a_steward_sees_the_changes_of_own_systems_only(
    screen: Callable[..., Screen], system: System
) -> None:
    other = System.objects.create(code="other", name="Other", flavor=system.flavor)
    make_changes(system, "safe", "risky", "breaking")
    make_changes(other, "breaking")
    response = screen("steward", systems=(system,)).get(reverse(HOME))
    waiting = response.context["waiting"]
    assert (waiting.changes, waiting.breaking, waiting.reviews) == (3, 1, 1)
    assert b"changes, 1 breaking" in b" ".join(response.content.split())
    approver = screen("approver").get(reverse(HOME)).context["waiting"]
    assert (approver.changes, approver.breaking, approver.reviews) == (4, 2, 2)


def test_the_first_person_is_not_asked_to_confirm_their_own_decision(
    screen: Callable[..., Screen], system: System
) -> None:
    first, second = screen("approver"), screen("approver")
    (change,) = make_changes(system, "breaking", state=Change.State.WAITING)
    Decision.objects.create(change=change, person=first.user, order=1, verdict="approve", at=timezone.now())
    assert first.get(reverse(HOME)).context["waiting"].for_second == 0
    response = second.get(reverse(HOME))
    assert response.context["waiting"].for_second == 1
    assert b"you may confirm" in response.content


def test_a_failed_crawl_counts_until_a_later_one_went_through(
    screen: Callable[..., Screen], system: System
) -> None:
    CrawlRun.objects.create(
        system=system, trigger="person", status=CrawlRun.Status.FAILED, error="db refused the connection."
    )
    client = screen("engineer")
    response = client.get(reverse(HOME))
    assert len(response.context["failed_runs"]) == 1
    assert b"db refused the connection." in response.content
    CrawlRun.objects.create(system=system, trigger="person", status=CrawlRun.Status.COMPLETED)
    assert client.get(reverse(HOME)).context["failed_runs"] == []


def test_a_queued_crawl_without_a_worker_is_said(screen: Callable[..., Screen], system: System) -> None:
    CrawlRun.objects.create(system=system, trigger="person", status=CrawlRun.Status.QUEUED)
    client = screen("engineer")
    assert b"No worker is running, so crawls wait." in client.get(reverse(HOME)).content
    WorkerBeat.objects.create(name="worker-1", seen_at=timezone.now())
    assert b"No worker is running" not in client.get(reverse(HOME)).content


def test_decisions_of_one_go_are_one_line(screen: Callable[..., Screen], system: System) -> None:
    steward = screen("steward", systems=(system,))
    changes = make_changes(system, "safe", "safe", "breaking", state=Change.State.APPLIED)
    now = timezone.now()
    Decision.objects.bulk_create(
        Decision(change=change, person=steward.user, order=1, verdict="approve", at=now) for change in changes
    )
    (line,) = steward.get(reverse(HOME)).context["decisions"]
    assert (line["count"], line["breaking"]) == (3, 1)


@pytest.mark.parametrize("role", ["viewer", "steward", "approver", "engineer", "admin"])
def test_home_needs_twelve_statements_at_most_however_much_there_is(
    role: str,
    screen: Callable[..., Screen],
    dataset: Dataset,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client = screen(role, systems=(dataset.system,))
    for _ in range(3):
        changes = make_changes(dataset.system, "safe", "breaking", state=Change.State.APPLIED)
        decide_all(changes, client)
        make_changes(dataset.system, "safe", "risky", "breaking")
    CrawlPlan.objects.create(system=dataset.system, cron="0 2 * * *", next_due_at=timezone.now())
    with django_assert_max_num_queries(12):
        assert client.get(reverse(HOME)).status_code == 200


def decide_all(changes: list[Change], client: Any) -> None:
    Decision.objects.bulk_create(
        Decision(change=change, person=client.user, order=1, verdict="approve", at=timezone.now())
        for change in changes
    )


def test_charts_have_a_table_behind_them(screen: Callable[..., Screen], dataset: Dataset) -> None:
    make_changes(dataset.system, "safe", "safe")
    page = screen("viewer").get(reverse(HOME)).content.decode()
    assert page.count("Show as table") == 2
    assert "In 30 days 2 changes were found and 0 decided." in page
