"""Lists stay cheap: a constant number of statements, counts that stop, searches and filters that hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from aide.core import admin as desk_admin
from registry.models import Dataset, Field, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish

LISTS = (
    "admin:registry_system_changelist",
    "admin:registry_dataset_changelist",
    "admin:registry_field_changelist",
    "admin:registry_datasetschema_changelist",
    "admin:registry_datatype_changelist",
    "admin:registry_systemflavor_changelist",
    "admin:registry_credentialref_changelist",
    "admin:audit_auditentry_changelist",
    "admin:accounts_user_changelist",
    "admin:accounts_apikey_changelist",
)


def statements(client: Screen, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_needs_ten_statements_at_most_whatever_it_holds(
    name: str, screen: Callable[..., Screen], dataset: Dataset
) -> None:
    client = screen("admin")
    client.get(reverse(name))
    before = statements(client, reverse(name))
    for _ in range(4):
        row = make_dataset(system=make_system())
        publish(row, ("id", "bigint"), ("email", "text"))
        screen("steward", systems=(row.system,))
    assert statements(client, reverse(name)) == before
    assert before <= 10


def test_counting_stops_at_the_cap(
    screen: Callable[..., Screen], dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_admin, "COUNT_CAP", 2)
    response = screen("viewer").get(reverse("admin:registry_field_changelist"))
    assert response.context["cl"].paginator.count == 3
    assert b"more than 10,000" in response.content


def test_datasets_are_filtered_by_system_and_searched_by_name(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    other = make_dataset("orders", system=make_system("billing"))
    client, address = screen("viewer"), reverse("admin:registry_dataset_changelist")
    assert set(client.get(address).context["cl"].result_list) == {dataset, other}
    only = client.get(address, {"system__id__exact": other.system_id}).context["cl"].result_list
    assert list(only) == [other]
    found = client.get(address, {"q": "custom"}).context["cl"].result_list
    assert list(found) == [dataset]
    empty = client.get(address, {"q": "nothing like it"})
    assert b"Nothing here matches the search and filters." in empty.content


def test_deleted_rows_are_not_listed_and_have_no_page(screen: Callable[..., Screen], system: System) -> None:
    admin = screen("admin")
    system.deleted_at = system.updated_at
    system.save()
    assert list(admin.get(reverse("admin:registry_system_changelist")).context["cl"].result_list) == []
    assert admin.get(reverse("admin:registry_system_change", args=[system.pk])).status_code == 404


def test_retired_fields_are_listed_only_when_asked_for(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    publish(dataset, ("id", "bigint"), ("email", "varchar(120)"))
    client, address = screen("viewer"), reverse("admin:registry_field_changelist")
    present = {field.name for field in client.get(address).context["cl"].result_list}
    retired = {field.name for field in client.get(address, {"shown": "retired"}).context["cl"].result_list}
    assert (present, retired) == ({"id", "email"}, {"phone"})


def test_search_finds_systems_datasets_and_fields(screen: Callable[..., Screen], dataset: Dataset) -> None:
    page = screen("viewer").get(reverse("admin:desk_search"), {"q": "CUSTOM"})
    assert page.context["systems"] == [dataset.system]
    assert page.context["datasets"] == [dataset]
    fields = screen("viewer").get(reverse("admin:desk_search"), {"q": "phone"}).context["fields"]
    assert fields == [Field.objects.get(name="phone")]
    nothing = screen("viewer").get(reverse("admin:desk_search"), {"q": "<b>"})
    assert "Nothing is called “&lt;b&gt;”." in nothing.content.decode()
