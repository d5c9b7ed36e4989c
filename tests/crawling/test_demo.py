"""The demo: everybody can sign in, the shop waits for review with changes of every risk, and nothing is lost."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from aide.accounts.models import User
from crawling import demo
from crawling.models import Change, CrawlRun
from registry.models import Dataset, System, SystemFlavor
from tests.factories import api_client

pytestmark = pytest.mark.django_db


@pytest.fixture
def seed(settings: Any, tmp_path: Path) -> Any:
    """Runs seed_demo with its files in a temporary folder and returns what it printed."""
    settings.DEBUG = True
    settings.VAR_DIR = tmp_path

    def run(*arguments: str) -> str:
        out = io.StringIO()
        call_command("seed_demo", *arguments, stdout=out)
        return out.getvalue()

    return run


def waiting() -> Any:
    return Change.objects.filter(state__in=Change.UNDECIDED, proposal__status__in=["open", "partly_applied"])


def test_the_first_screen_has_changes_of_every_risk_waiting(seed: Any) -> None:
    printed = seed()
    assert set(waiting().values_list("risk", flat=True)) == {"safe", "risky", "breaking"}
    assert f"{waiting().count()} changes wait for review" in printed
    assert waiting().filter(op="rename_field", dataset_name="main.sales_customers").exists()
    assert Dataset.objects.filter(current_schema__version_num=1).count() == 25


def test_every_role_has_a_log_in_that_is_printed(seed: Any) -> None:
    printed = seed()
    for role in ("viewer", "steward", "approver", "engineer", "admin"):
        user = User.objects.get(email=f"{role}@demo.aide")
        assert user.check_password(demo.PASSWORD)
        assert user.role_names == {role}
        assert user.is_staff
        assert user.email in printed
    assert User.objects.get(email="steward@demo.aide").systems.get().code == "demo-shop"


def test_a_second_run_keeps_what_people_did(seed: Any) -> None:
    seed()
    steward = User.objects.get(email="steward@demo.aide")
    steward.set_password("my own choice")
    steward.save()
    before = (waiting().count(), CrawlRun.objects.count(), Dataset.objects.count())
    seed()
    assert (waiting().count(), CrawlRun.objects.count(), Dataset.objects.count()) == before
    steward.refresh_from_db()
    assert steward.check_password("my own choice")


def test_the_next_crawl_finds_the_next_changes(seed: Any) -> None:
    seed()
    before = waiting().count()
    seed("--step", "next-crawl")
    assert waiting().filter(field_path="last_login_ip").exists()
    assert waiting().count() > before
    seed("--step", "next-crawl")
    assert System.objects.get(code="demo-shop").crawl_runs.count() == 4


def test_it_refuses_without_the_development_flag(seed: Any, settings: Any) -> None:
    settings.DEBUG = False
    with pytest.raises(CommandError, match="AIDE_DEBUG=1"):
        seed()
    assert not User.objects.exists()


def test_it_refuses_a_database_with_other_systems(seed: Any) -> None:
    call_command("seed_data_types", stdout=io.StringIO())
    flavor = SystemFlavor.objects.get(code="postgresql")
    System.objects.create(code="billing", name="Billing", flavor=flavor)
    with pytest.raises(CommandError, match="billing"):
        seed()
    assert not User.objects.exists()


def test_the_text_report_is_plain_text_whatever_is_accepted(seed: Any) -> None:
    seed()
    run = CrawlRun.objects.latest("id")
    client = api_client(User.objects.get(email="viewer@demo.aide"))
    for accept in ("*/*", "text/plain", "application/json"):
        answer = client.get(f"/api/v1/crawl-runs/{run.pk}/report?format=text", HTTP_ACCEPT=accept)
        assert answer["Content-Type"].startswith("text/plain")
        assert answer.content.decode().startswith("=== AIDE Crawler Diff Report ===\n")
