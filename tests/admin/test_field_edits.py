"""Writing about one field where one reads it: a line of the dataset's table, and the tags of the column page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse

from aide.audit.models import AuditEntry
from registry import curation
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.admin.conftest import Screen


@pytest.fixture
def field(dataset: Dataset) -> Field:
    return dataset.fields.get(name="email")


@pytest.fixture
def steward(screen: Callable[..., Screen], dataset: Dataset) -> Screen:
    return screen("steward", systems=(dataset.system,))


@pytest.fixture
def email(db: None) -> PIITag:
    return PIITag.objects.get_or_create(code="email", defaults={"name": "E-mail address", "sensitivity": 2})[
        0
    ]


def test_one_line_of_the_table_is_edited_and_tagged_in_place(
    steward: Screen, field: Field, email: PIITag
) -> None:
    table = reverse("admin:registry_dataset_change", args=[field.dataset_id])
    assert f'href="?tab=fields&amp;edit={field.pk}#field-{field.pk}"' in steward.get(table).content.decode()
    page = steward.get(table, {"edit": field.pk}).content.decode()
    address = reverse("admin:registry_field_line", args=[field.pk])
    assert page.count(f'action="{address}"') == 1
    saved = steward.post(
        address,
        {"description": "Where we write to.", "tags": "crm, mail", "add_tags": "email", "seen_version": 1,
         "next": f"{table}?tab=fields#field-{field.pk}"},
    )  # fmt: skip
    assert saved["Location"] == f"{table}?tab=fields#field-{field.pk}"
    field.refresh_from_db()
    assert (field.description, field.tags) == ("Where we write to.", ["crm", "mail"])
    assert FieldTag.objects.get(field=field).decided_by == steward.user
    page = steward.get(table).content.decode()
    assert "PII email" in page
    assert '<span class="chip">crm</span>' in page


def test_over_someone_elses_words_nothing_is_written_and_both_are_shown(
    steward: Screen, field: Field, screen: Callable[..., Screen]
) -> None:
    curation.edit(field, {"description": "Theirs"}, by=screen("approver").user)
    address = reverse("admin:registry_field_line", args=[field.pk])
    body = {"description": "Mine", "tags": "", "seen_version": 1}
    answer = steward.post(address, body)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else saved first." in page
    assert "Theirs" in page
    assert ">\nMine</textarea>" in page
    assert 'name="seen_version" value="2"' in page
    field.refresh_from_db()
    assert field.description == "Theirs"
    assert steward.post(address, {**body, "seen_version": 2}).status_code == 302


def test_a_column_is_tagged_by_hand_on_its_page(steward: Screen, field: Field, email: PIITag) -> None:
    address = reverse("admin:registry_field_change", args=[field.pk])
    page = steward.get(address).content.decode()
    assert "Tag it by hand" in page
    tagging = reverse("admin:registry_field_tag", args=[field.pk])
    done = steward.post(tagging, {"add_tags": "email", "reason": "Looked", "next": address}, follow=True)
    assert "Tagged email as email." in done.content.decode()
    assert AuditEntry.objects.get(action="tag.confirm").reason == "Looked"
    assert 'value="email"' not in steward.get(address).content.decode(), (
        "what it carries is not offered again"
    )
    nothing = steward.post(tagging, {"next": "https://elsewhere.example/"}, follow=True)
    assert "Nothing was tagged" in nothing.content.decode()
    assert nothing.request["PATH_INFO"] == reverse("admin:registry_dataset_change", args=[field.dataset_id])


def test_who_may_not_sees_no_form_and_is_refused(screen: Callable[..., Screen], field: Field) -> None:
    viewer = screen("viewer")
    table = reverse("admin:registry_dataset_change", args=[field.dataset_id])
    assert "line-form" not in viewer.get(table, {"edit": field.pk}).content.decode()
    assert (
        "Tag it by hand"
        not in viewer.get(reverse("admin:registry_field_change", args=[field.pk])).content.decode()
    )
    refused = viewer.post(reverse("admin:registry_field_tag", args=[field.pk]), {"add_tags": "email"})
    assert refused.status_code == 403
    assert "You can view this page but not change it." in refused.content.decode()


@pytest.mark.parametrize("edit", ["x", "9" * 30, "²", "-1", "0"])
def test_odd_lines_are_ignored(edit: str, steward: Screen, field: Field) -> None:
    table = reverse("admin:registry_dataset_change", args=[field.dataset_id])
    assert "line-form" not in steward.get(table, {"edit": edit}).content.decode()
