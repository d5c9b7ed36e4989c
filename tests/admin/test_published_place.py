"""The form of where a dataset is, once a version is published."""

from __future__ import annotations

from collections.abc import Callable

from django.urls import reverse

from tests.admin.conftest import Screen
from tests.admin.test_dataset_kinds import make, posted, published


def test_the_place_of_a_published_dataset_is_not_written_on_its_form(screen: Callable[..., Screen]) -> None:
    dataset = make("kafka")
    published(dataset, [{"name": "id", "native_type": "string"}])
    dataset.refresh_from_db()
    location = dict(dataset.location)
    address = reverse("admin:registry_dataset_place", args=[dataset.pk])
    values = {
        **posted(location | {"topic": "moved"}),
        "object_kind": dataset.object_kind,
        "seen_version": dataset.row_version,
    }
    answer = screen("engineer").post(address, values)
    assert answer.status_code == 422
    assert "Its place comes from its published version; propose a change." in answer.content.decode()
    dataset.refresh_from_db()
    assert dataset.location == location
