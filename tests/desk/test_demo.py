"""The demo's command: it refuses where it must, keeps what people did, and adds the shop, really crawled."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from aide.accounts.models import User
from aide.desk.demo import accounts, shop
from crawling import stand_in
from crawling.models import Change, CrawlRun
from registry.models import Dataset, Field, System, SystemFlavor
from tests.factories import api_client

pytestmark = pytest.mark.django_db


@pytest.fixture
def crawled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, type_catalogues: None) -> CrawlRun | None:
    """The shop alone, after its second crawl."""
    monkeypatch.setattr(stand_in, "folder", lambda: tmp_path)
    return shop.prepare(steward=accounts.people()["steward"])


def waiting() -> Any:
    return Change.objects.filter(state__in=Change.UNDECIDED, proposal__status__in=["open", "partly_applied"])


def test_the_shop_has_changes_of_every_risk_waiting(crawled: CrawlRun) -> None:
    assert set(waiting().values_list("risk", flat=True)) == {"safe", "risky", "breaking"}
    assert waiting().filter(op="rename_field", dataset_name="main.sales_customers").exists()
    assert Dataset.objects.filter(current_schema__version_num=1).count() == 25
    assert User.objects.get(email="steward@demo.aide").systems.get().code == "demo-shop"


def test_preparing_the_shop_again_keeps_what_people_did(crawled: CrawlRun) -> None:
    steward = User.objects.get(email="steward@demo.aide")
    steward.set_password("my own choice")
    steward.save()
    before = (waiting().count(), CrawlRun.objects.count(), Dataset.objects.count())
    assert shop.prepare(steward=accounts.people()["steward"]) is None
    assert (waiting().count(), CrawlRun.objects.count(), Dataset.objects.count()) == before
    steward.refresh_from_db()
    assert steward.check_password("my own choice")


def test_the_next_crawl_of_the_shop_finds_the_next_changes(crawled: CrawlRun) -> None:
    before = waiting().count()
    shop.next_crawl()
    assert waiting().filter(field_path="last_login_ip").exists()
    assert waiting().count() > before
    shop.next_crawl()
    assert System.objects.get(code="demo-shop").crawl_runs.count() == 4


def test_the_text_report_is_plain_text_whatever_is_accepted(crawled: CrawlRun) -> None:
    client = api_client(User.objects.get(email="viewer@demo.aide"))
    for accept in ("*/*", "text/plain", "application/json"):
        answer = client.get(f"/api/v1/crawl-runs/{crawled.pk}/report?format=text", HTTP_ACCEPT=accept)
        assert answer["Content-Type"].startswith("text/plain")
        assert answer.content.decode().startswith("=== AIDE Crawler Diff Report ===\n")


def test_it_refuses_without_the_development_flag(settings: Any) -> None:
    settings.DEBUG = False
    with pytest.raises(CommandError, match="AIDE_DEBUG=1"):
        call_command("seed_demo", stdout=io.StringIO())
    assert not User.objects.exists()


def test_it_refuses_a_database_with_other_systems(settings: Any, type_catalogues: None) -> None:
    settings.DEBUG = True
    flavor = SystemFlavor.objects.get(code="postgresql")
    System.objects.create(code="billing", name="Billing", flavor=flavor)
    with pytest.raises(CommandError, match="billing"):
        call_command("seed_demo", stdout=io.StringIO())
    assert not User.objects.exists()


@pytest.mark.nightly
def test_medium_has_5000_datasets_with_150000_fields_and_a_review_of_500_changes(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.DEBUG = True
    monkeypatch.setattr(stand_in, "folder", lambda: tmp_path)
    call_command("seed_demo", size="medium", stdout=io.StringIO())
    assert Dataset.objects.count() == 5_000
    assert Field.objects.filter(retired_at__isnull=True).count() == 150_000
    assert waiting().filter(proposal__system__code__startswith="erp-").count() == 500
    assert waiting().exclude(proposal__system__code__startswith="erp-").count() == 37
    call_command("seed_demo", size="medium", stdout=io.StringIO())
    assert Dataset.objects.count() == 5_000
