"""Addresses that stay, what became of things that are gone, and sessions that ended."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from registry.models import Dataset, System
from registry.versions import retire
from tests.admin.conftest import Screen
from tests.factories import PASSWORD, make_user


def test_a_lasting_address_leads_to_the_page_with_its_query(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    viewer = screen("viewer")
    page = reverse("admin:registry_dataset_change", args=[dataset.pk])
    copied = re.search(r'data-copy="http://testserver([^"]*)"', viewer.get(page).content.decode())
    assert copied is not None
    assert copied[1] == f"/admin/go/urn:aide:dataset:{dataset.pk}/?tab=fields"
    answer = viewer.get(f"/admin/go/urn:aide:dataset:{dataset.pk}/?tab=versions&from=1")
    assert answer["Location"] == f"{page}?tab=versions&from=1"
    Dataset.objects.filter(pk=dataset.pk).update(name="public.clients")
    assert viewer.get(copied[1], follow=True).status_code == 200
    system = viewer.get(f"/admin/go/urn:aide:system:{dataset.system.code}/")
    assert system["Location"] == reverse("admin:registry_system_change", args=[dataset.system_id])
    field = dataset.fields.get(name="email")
    assert viewer.get(f"/admin/go/field:{field.pk}/", follow=True).status_code == 200


@pytest.mark.parametrize(
    "urn", ["dataset:0", "dataset:x", "nothing:1", "dataset", "system:no", "batch:x", "urn:aide:", "field:²"]
)
def test_what_is_no_lasting_address_is_not_found(urn: str, screen: Callable[..., Screen]) -> None:
    assert screen("viewer").get(f"/admin/go/{urn}/").status_code == 404


def test_a_deleted_dataset_says_when_by_whom_and_leads_to_its_last_version(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    engineer = screen("engineer")
    engineer.post(reverse("admin:registry_dataset_delete", args=[dataset.pk]), {"post": "yes"})
    today = timezone.localdate()
    field = dataset.fields.get(name="email")
    for address, words in (
        (reverse("admin:registry_dataset_change", args=[dataset.pk]), "This dataset"),
        (f"/admin/go/urn:aide:dataset:{dataset.pk}/", "This dataset"),
        (reverse("admin:registry_field_change", args=[field.pk]), "The dataset of this field"),
    ):
        answer = screen("viewer").get(address, follow=True)
        page = answer.content.decode()
        assert answer.status_code == 404
        assert f"{words} was deleted on {today.day} {today:%B} by Engineer Person." in page
        last = reverse("admin:registry_datasetschema_change", args=[dataset.current_schema_id])
        assert f'<a href="{last}">See its last version</a>' in page
        assert screen("viewer").get(last).status_code == 200


def test_a_retired_dataset_says_so_on_its_page(screen: Callable[..., Screen], dataset: Dataset) -> None:
    retire([dataset], by=make_user("approver", full_name="Bo"), reason="Not used any more")
    page = screen("viewer").get(reverse("admin:registry_dataset_change", args=[dataset.pk])).content.decode()
    today = timezone.localdate()
    assert f"This dataset was retired on {today.day} {today:%B} by Bo (Not used any more)." in page
    assert '<a href="?tab=versions">See its last version</a>' in page


def test_what_never_was_is_plainly_not_there(screen: Callable[..., Screen], system: System) -> None:
    for name in ("dataset", "field", "system"):
        answer = screen("viewer").get(reverse(f"admin:registry_{name}_change", args=[999_999]))
        assert answer.status_code == 404
        assert "There is nothing at this address" in answer.content.decode()


def test_an_ended_session_leads_back_to_the_page(screen: Callable[..., Screen], dataset: Dataset) -> None:
    person = make_user("steward")
    client, page = Screen(), f"{reverse('admin:registry_dataset_change', args=[dataset.pk])}?tab=versions"
    assert "You were signed out" not in client.get(page, follow=True).content.decode()
    client.post(reverse("admin:login"), {"username": person.email, "password": PASSWORD})
    Session.objects.all().delete()
    asked = client.get(page, follow=True)
    text = asked.content.decode()
    assert "You were signed out. Sign in and you will be back here." in text
    back = client.post(
        asked.request["PATH_INFO"], {"username": person.email, "password": PASSWORD, "next": page}
    )
    assert back["Location"] == page
    client.post(reverse("admin:logout"))
    assert "You were signed out" not in client.get(page, follow=True).content.decode()


def test_a_form_sent_after_the_end_leads_back_to_the_page_it_came_from(dataset: Dataset) -> None:
    client = Screen()
    field = dataset.fields.get(name="email")
    page = f"{reverse('admin:registry_dataset_change', args=[dataset.pk])}?tab=fields"
    tag = reverse("admin:registry_field_tag", args=[field.pk])
    for referer, target in (
        (f"http://testserver{page}", page),
        ("https://elsewhere.example/x", tag),
        ("", tag),
    ):
        answer = client.post(tag, {}, headers={"referer": referer})
        assert answer.status_code == 302
        login = client.get(answer["Location"])
        assert login.context["next"] == target


def test_the_note_of_who_was_here_cannot_be_forged_and_ends(dataset: Dataset) -> None:
    client = Screen()
    client.cookies["aide_was_here"] = "1:forged"
    page = reverse("admin:registry_dataset_change", args=[dataset.pk])
    assert "You were signed out" not in client.get(page, follow=True).content.decode()
