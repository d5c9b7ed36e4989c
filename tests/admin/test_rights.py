"""Buttons one may not use are not shown, and a direct POST is refused in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse

from aide.audit.models import AuditEntry
from registry.models import Dataset, Field, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish


def words(field: Field) -> dict[str, object]:
    return {
        "description": "Where we write to.",
        "owner": "CRM",
        "tags": "",
        "note": "",
        "seen_version": field.row_version,
    }


def test_a_viewer_sees_no_button_and_a_post_is_refused_in_words(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    viewer = screen("viewer")
    page = viewer.get(reverse("admin:registry_dataset_change", args=[dataset.pk])).content.decode()
    edit = reverse("admin:registry_dataset_edit", args=[dataset.pk])
    assert edit not in page
    refused = viewer.post(edit, {"description": "Mine"})
    assert refused.status_code == 403
    assert "You can view this page but not change it." in refused.content.decode()
    assert "steward for pg-crm" in refused.content.decode()
    dataset.refresh_from_db()
    assert dataset.description == ""


def test_a_steward_edits_fields_of_own_systems_only(screen: Callable[..., Screen], dataset: Dataset) -> None:
    elsewhere = make_dataset("invoices", system=make_system("billing"))
    publish(elsewhere, ("id", "bigint"))
    steward = screen("steward", systems=(dataset.system,))
    mine, theirs = dataset.fields.get(name="email"), elsewhere.fields.get(name="id")
    assert (
        steward.post(reverse("admin:registry_field_change", args=[mine.pk]), words(mine)).status_code == 302
    )
    assert (
        steward.post(reverse("admin:registry_field_change", args=[theirs.pk]), words(theirs)).status_code
        == 403
    )
    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert (mine.description, theirs.description) == ("Where we write to.", "")


def test_an_edit_of_a_description_is_in_the_audit_log(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    steward = screen("steward", systems=(dataset.system,))
    field = dataset.fields.get(name="email")
    steward.post(reverse("admin:registry_field_change", args=[field.pk]), words(field))
    entry = AuditEntry.objects.get(action="field.edit")
    assert entry.actor == steward.user
    assert (entry.before["description"], entry.after["description"]) == ("", "Where we write to.")
    assert entry.via == "ui"


def test_an_edit_over_someone_elses_is_refused_and_the_text_is_kept(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    steward, approver = screen("steward", systems=(dataset.system,)), screen("approver")
    field = dataset.fields.get(name="email")
    address = reverse("admin:registry_field_change", args=[field.pk])
    assert approver.post(address, {**words(field), "description": "Theirs"}).status_code == 302
    response = steward.post(address, {**words(field), "description": "My own text"})
    page = response.content.decode()
    assert response.status_code == 200
    assert "Someone else saved this while you were editing." in page
    assert "My own text" in page
    field.refresh_from_db()
    assert field.description == "Theirs"
    again = steward.post(address, {**words(field), "description": "My own text"})
    assert again.status_code == 302
    field.refresh_from_db()
    assert field.description == "My own text"


@pytest.mark.parametrize("role", ["viewer", "steward", "approver"])
def test_systems_are_changed_by_engineers_and_administrators_only(
    role: str, screen: Callable[..., Screen], system: System
) -> None:
    client = screen(role, systems=(system,))
    page = client.get(reverse("admin:registry_system_change", args=[system.pk])).content.decode()
    assert "Schedule crawls" not in page
    address = reverse("admin:registry_system_edit", args=[system.pk])
    assert client.post(address, {"name": "x"}).status_code == 403
    assert (
        client.post(reverse("admin:registry_system_delete", args=[system.pk]), {"post": "yes"}).status_code
        == 403
    )
    assert System.objects.get().name == "Customer relations"


def test_a_steward_may_test_the_connection_of_own_systems_only(
    screen: Callable[..., Screen], system: System
) -> None:
    other = make_system("billing")
    steward = screen("steward", systems=(system,))
    assert steward.post(reverse("admin:registry_system_test", args=[system.pk])).status_code == 302
    refused = steward.post(reverse("admin:registry_system_test", args=[other.pk]))
    assert refused.status_code == 403
    assert "steward for billing" in refused.content.decode()
    assert screen("viewer").post(reverse("admin:registry_system_test", args=[system.pk])).status_code == 403


def test_nobody_changes_published_versions_or_the_audit_log(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    client = screen("admin", "engineer", "steward", "approver")
    entry = AuditEntry.objects.first()
    assert entry is not None
    for name, pk in (("registry_datasetschema", dataset.current_schema_id), ("audit_auditentry", entry.pk)):
        assert client.get(reverse(f"admin:{name}_change", args=[pk])).status_code == 200
        assert client.post(reverse(f"admin:{name}_change", args=[pk]), {}).status_code == 403
        assert client.post(reverse(f"admin:{name}_delete", args=[pk]), {"post": "yes"}).status_code == 403
        assert client.get(reverse(f"admin:{name}_add")).status_code == 403


def test_a_steward_reads_the_audit_log_of_own_systems_only(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    elsewhere = make_dataset("invoices", system=make_system("billing"))
    publish(elsewhere, ("id", "bigint"))
    address = reverse("admin:audit_auditentry_changelist")
    steward = screen("steward", systems=(dataset.system,))
    assert {e.system_code for e in steward.get(address).context["cl"].result_list} == {"pg-crm"}
    seen = {e.system_code for e in screen("approver").get(address).context["cl"].result_list}
    assert {"pg-crm", "billing"} <= seen
