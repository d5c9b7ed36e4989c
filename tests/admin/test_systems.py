"""Systems, credential references and schedules: forms that refuse in words, and what gets recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from aide.audit.models import AuditEntry
from crawling.models import CrawlPlan
from registry.models import CredentialRef, Dataset, System
from tests.admin.conftest import Screen
from tests.factories import make_flavor, make_system

ADD = "admin:registry_system_add"


def values(**changes: Any) -> dict[str, Any]:
    return {
        "code": "billing",
        "name": "Billing",
        "flavor": make_flavor().pk,
        "connection_url": "postgresql://reader@db:5432/billing",
        "is_active": "on",
        **changes,
    }


def test_an_added_system_is_recorded(screen: Callable[..., Screen]) -> None:
    engineer = screen("engineer")
    response = engineer.post(reverse(ADD), values(tags="money, core", namespaces="postgres://db:5432"))
    assert response.status_code == 302
    system = System.objects.get(code="billing")
    assert system.tags == ["money", "core"]
    assert [row.namespace for row in system.namespace_rows.all()] == ["postgres://db:5432"]
    entry = AuditEntry.objects.get(action="system.create")
    assert (entry.actor, entry.system_code) == (engineer.user, "billing")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"connection_url": "postgresql://reader:hunter2@db/billing"}, "Take the password out of the URL"),
        (
            {"connection_url": "postgresql://reader@db/billing?password=hunter2"},
            "Take the password out of the URL",
        ),
        (
            {"connection_url": "postgresql://reader:hunter2@at@db/billing"},
            "The connection URL cannot be read",
        ),
        ({"connection_url": "not a url"}, "The connection URL cannot be read"),
        (
            {"connection_url": "mysql://reader@db/billing"},
            "This URL is for mysql, but Postgresql takes postgresql.",
        ),
        (
            {"connection_url": "postgresql://reader@db/billing?passfile=/etc/passwd"},
            "The option passfile is not allowed in a postgresql URL",
        ),
        ({"namespaces": "n" * 501}, "A namespace has at most 500 characters."),
        ({"code": "Billing System"}, "Use 1 to 64 of the characters"),
        ({"extra": "{broken"}, "This is not JSON: line 1, column 2"),
    ],
)
def test_a_wrong_entry_is_refused_in_words(
    change: dict[str, str], sentence: str, screen: Callable[..., Screen]
) -> None:
    page = screen("engineer").post(reverse(ADD), values(**change))
    assert page.status_code == 200
    assert sentence in page.content.decode()
    assert "hunter2" not in page.content.decode()
    assert not System.objects.exists()


def test_a_file_that_is_not_there_is_refused_at_the_field(
    screen: Callable[..., Screen], tmp_path: Path
) -> None:
    there, flavor = tmp_path / "shop.sqlite3", make_flavor("sqlite").pk
    url = {"flavor": flavor, "connection_url": f"sqlite:///{there}"}
    page = screen("engineer").post(reverse(ADD), values(**url))
    assert page.context["adminform"].form.errors["connection_url"] == [
        "There is no such SQLite file; use sqlite:////absolute/path of a file on this server."
    ]
    there.touch()
    assert screen("engineer").post(reverse(ADD), values(**url)).status_code == 302


def test_the_rest_of_a_refused_url_is_kept_for_the_next_try(screen: Callable[..., Screen]) -> None:
    url = "postgresql://reader:hunter2@db/billing?sslmode=require"
    page = screen("engineer").post(reverse(ADD), values(connection_url=url)).content.decode()
    assert 'value="postgresql://reader@db/billing?sslmode=require"' in page


def test_a_namespace_belongs_to_one_system(screen: Callable[..., Screen], system: System) -> None:
    system.namespace_rows.create(namespace="postgres://db:5432")  # type: ignore[attr-defined]
    page = screen("engineer").post(reverse(ADD), values(namespaces="postgres://db:5432"))
    assert "postgres://db:5432 already belongs to pg-crm." in page.content.decode()


def test_a_password_in_a_refused_url_reaches_no_log(screen: Callable[..., Screen]) -> None:
    screen("engineer").post(reverse(ADD), values(connection_url="postgresql://reader:hunter2@db/billing"))
    assert not AuditEntry.objects.filter(after__icontains="hunter2").exists()


def test_a_change_records_only_what_changed(screen: Callable[..., Screen], system: System) -> None:
    data = values(
        code=system.code, name="Renamed", flavor=system.flavor_id, connection_url="", seen_version=1
    )
    address = reverse("admin:registry_system_edit", args=[system.pk])
    response = screen("engineer").post(address, data)
    assert response["Location"] == reverse("admin:registry_system_change", args=[system.pk])
    entry = AuditEntry.objects.get(action="system.update")
    assert (entry.before, entry.after) == ({"name": "Customer relations"}, {"name": "Renamed"})
    system.refresh_from_db()
    assert system.row_version == 2


def test_a_system_with_datasets_cannot_be_deleted(screen: Callable[..., Screen], dataset: Dataset) -> None:
    engineer, address = screen("engineer"), reverse("admin:registry_system_delete", args=[dataset.system_id])
    assert b"1 dataset in this system" in engineer.get(address).content
    engineer.post(address, {"post": "yes"})
    assert System.objects.get().deleted_at is None


def test_a_deleted_system_is_only_marked_and_recorded(screen: Callable[..., Screen], system: System) -> None:
    engineer = screen("engineer")
    engineer.post(reverse("admin:registry_system_delete", args=[system.pk]), {"post": "yes"})
    system.refresh_from_db()
    assert system.deleted_by == engineer.user
    assert AuditEntry.objects.get(action="system.delete").object_name == "Customer relations"


def test_a_credential_reference_has_no_place_for_a_secret(screen: Callable[..., Screen]) -> None:
    engineer = screen("engineer")
    page = engineer.get(reverse("admin:registry_credentialref_add"))
    assert set(page.context["adminform"].form.fields) == {
        "provider",
        "path",
        "version",
        "note",
        "seen_version",
    }
    engineer.post(reverse("admin:registry_credentialref_add"), {"provider": "env", "path": "CRM_PASSWORD"})
    assert CredentialRef.objects.get().path == "CRM_PASSWORD"


def test_a_setting_of_aide_is_no_credential(screen: Callable[..., Screen]) -> None:
    data = {"provider": "env", "path": "AIDE_SECRET_KEY"}
    page = screen("engineer").post(reverse("admin:registry_credentialref_add"), data)
    assert "is a setting of AIDE itself" in page.content.decode()
    assert not CredentialRef.objects.exists()


def test_the_connection_test_says_in_words_what_is_wrong(
    screen: Callable[..., Screen], tmp_path: Path
) -> None:
    missing = tmp_path / "missing.sqlite3"
    system = make_system("files", flavor="sqlite", connection_url=f"sqlite:///{missing}")
    address = reverse("admin:registry_system_test", args=[system.pk])
    page = screen("engineer").post(address, headers={"hx-request": "true"}).content.decode()
    assert "missing.sqlite3" in page
    assert "banner bad" in page
    assert "Traceback" not in page


def schedule(system: System, **changes: str) -> dict[str, Any]:
    return {
        "system": system.pk, "is_active": "on", "frequency": "day", "time": "02:30", "weekday": "1",
        "time_zone": "Europe/Berlin", **changes,
    }  # fmt: skip


def test_the_system_page_tells_its_schedule_and_leads_to_its_form(
    screen: Callable[..., Screen], system: System
) -> None:
    engineer, page = screen("engineer"), reverse("admin:registry_system_change", args=[system.pk])
    add = f"{reverse('admin:crawling_crawlplan_add')}?system={system.pk}"
    assert add in engineer.get(page).content.decode()
    assert f'<option value="{system.pk}" selected>' in engineer.get(add).content.decode()
    answer = engineer.post(add, schedule(system, exclude_tables="tmp_*\nlog"))
    assert answer["Location"] == page
    told = engineer.get(page).content.decode()
    assert "Every day at 02:30, Europe/Berlin" in told
    assert "tmp_*, log" in told
    plan = CrawlPlan.objects.get()
    assert reverse("admin:crawling_crawlplan_change", args=[plan.pk]) in told
    assert AuditEntry.objects.get(action="crawl_plan.create").after["cron"] == "30 2 * * *"
    assert "Change the schedule" not in screen("viewer").get(page).content.decode()


def test_a_paused_schedule_keeps_its_scope_and_the_log_says_what_changed(
    screen: Callable[..., Screen], system: System
) -> None:
    engineer = screen("engineer")
    engineer.post(reverse("admin:crawling_crawlplan_add"), schedule(system, schemas="crm"))
    plan = CrawlPlan.objects.get()
    data = schedule(system, schemas="crm", seen_version="1")
    del data["is_active"]
    answer = engineer.post(reverse("admin:crawling_crawlplan_change", args=[plan.pk]), data)
    assert answer.status_code == 302
    plan.refresh_from_db()
    assert (plan.is_active, plan.next_due_at, plan.scope["schemas"]) == (False, None, ["crm"])
    entry = AuditEntry.objects.get(action="crawl_plan.update")
    assert (entry.before, entry.after) == ({"is_active": True}, {"is_active": False})


def test_a_flavor_without_types_is_said_before_anyone_crawls(screen: Callable[..., Screen], db: None) -> None:
    make_flavor("oracle", types=False)
    system = make_system("legacy", flavor="oracle")
    page = screen("engineer").get(reverse("admin:registry_system_change", args=[system.pk])).content.decode()
    assert "has no data types yet; a crawl would fail" in page
    assert "Crawl now" not in page
