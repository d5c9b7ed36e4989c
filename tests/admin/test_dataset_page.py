"""The dataset page: its tabs, and two versions compared with one row a field."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from registry import versions
from registry.documents import clean
from registry.models import Dataset, DatasetSchema
from tests.admin.conftest import Screen
from tests.factories import make_document, publish


def address(dataset: Dataset, query: str = "") -> str:
    return reverse("admin:registry_dataset_change", args=[dataset.pk]) + query


def test_each_tab_is_an_address(screen: Callable[..., Screen], dataset: Dataset) -> None:
    viewer = screen("viewer")
    for tab in ("fields", "versions", "crawls", "history"):
        page = viewer.get(address(dataset, f"?tab={tab}")).content.decode()
        assert f'<a href="?tab={tab}" aria-current="page">' in page
    assert viewer.get(address(dataset, "?tab=nonsense")).context["tab"] == "fields"


def test_the_fields_tab_shows_the_current_version(screen: Callable[..., Screen], dataset: Dataset) -> None:
    page = screen("viewer").get(address(dataset)).content.decode()
    assert "character varying(120)" in page
    assert "3 fields" in page


def test_two_versions_differ_in_one_row_a_field(screen: Callable[..., Screen], dataset: Dataset) -> None:
    publish(dataset, ("id", "bigint"), ("email", "varchar(200)"), ("joined_on", "date"))
    comparison = screen("viewer").get(address(dataset, "?tab=versions&from=1&to=2")).context["comparison"]
    rows = {row.pair.path: (row.pair.state, row.risk) for row in comparison.rows}
    assert rows == {
        "email": ("changed", "safe"),
        "joined_on": ("added", "safe"),
        "phone": ("removed", "breaking"),
    }
    assert [pair.path for pair in comparison.unchanged] == ["id"]
    assert comparison.counts == {"added": 1, "removed": 1, "changed": 1}


def test_a_renamed_field_is_one_row(screen: Callable[..., Screen], dataset: Dataset) -> None:
    fields = (("id", "bigint"), ("email", "varchar(120)"), ("mobile_phone", "varchar(20)"))
    document = clean(make_document(*fields, schema="public", name="customers"))
    publication = versions.Publication(document, dataset=dataset, renames={"mobile_phone": "phone"})
    versions.publish(publication, system=dataset.system, by=None, origin="api")
    page = screen("viewer").get(address(dataset, "?tab=versions"))
    (row,) = page.context["comparison"].rows
    assert (row.pair.path, row.pair.state, row.risk) == ("mobile_phone", "changed", "breaking")
    assert [(d.what, d.was, d.now) for d in row.pair.differences] == [("name", "phone", "mobile_phone")]


def test_what_came_and_went_in_between_is_named(screen: Callable[..., Screen], dataset: Dataset) -> None:
    base = (("id", "bigint"), ("email", "varchar(120)"), ("phone", "varchar(20)"))
    publish(dataset, *base, ("fax", "text"))
    publish(dataset, *base, ("note", "text"))
    comparison = screen("viewer").get(address(dataset, "?tab=versions&from=1&to=3")).context["comparison"]
    assert [field.path for field in comparison.came_and_went] == ["fax"]
    assert [row.pair.path for row in comparison.rows] == ["note"]


def test_since_a_day_takes_the_version_of_that_day(screen: Callable[..., Screen], dataset: Dataset) -> None:
    from datetime import UTC, datetime

    first = DatasetSchema.objects.get(dataset=dataset)
    first.published_at = datetime(2026, 1, 5, tzinfo=UTC)
    first.save()
    publish(dataset, ("id", "bigint"))
    pair = screen("viewer").get(address(dataset, "?tab=versions&since=2026-03-01")).context["pair"]
    assert (pair[0].version_num, pair[1].version_num) == (1, 2)


@pytest.mark.parametrize("tab", ["fields", "versions", "crawls", "history"])
def test_a_tab_needs_few_statements_however_many_fields(
    tab: str,
    screen: Callable[..., Screen],
    dataset: Dataset,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    publish(dataset, *((f"column_{n}", "varchar(20)") for n in range(200)))
    viewer = screen("viewer")
    with django_assert_max_num_queries(20 if tab == "versions" else 16):
        assert viewer.get(address(dataset, f"?tab={tab}")).status_code == 200


def test_a_dataset_without_a_version_says_so(screen: Callable[..., Screen], dataset: Dataset) -> None:
    dataset.current_schema = None
    dataset.save()
    dataset.schemas.all().delete()
    viewer = screen("viewer")
    assert b"No version yet." in viewer.get(address(dataset)).content
    assert b"No version is published yet." in viewer.get(address(dataset, "?tab=versions")).content


def test_curated_values_are_edited_and_lead_back_to_the_page(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    steward = screen("steward", systems=(dataset.system,))
    values = {
        "description": "Everyone who ever bought.",
        "owner": "CRM",
        "tags": "gold, core",
        "layer": "core",
        "status": "active",
        "compatibility": "BACKWARD",
        "note": "",
        "seen_version": dataset.row_version,
    }
    response = steward.post(reverse("admin:registry_dataset_edit", args=[dataset.pk]), values)
    assert response["Location"] == address(dataset)
    dataset.refresh_from_db()
    assert (dataset.description, dataset.tags, dataset.layer) == (
        "Everyone who ever bought.",
        ["gold", "core"],
        "core",
    )


@pytest.mark.parametrize(
    ("kind", "location", "name"),
    [
        ("kafka", {"topic": "orders.v1", "partitions": "6"}, "orders.v1"),
        ("sftp", {"path": "/in", "pattern": "*.csv", "header": "on"}, "/in/*.csv"),
        ("rdbms", {"schema": "crm", "table": "odd.name"}, 'crm."odd.name"'),
    ],
)
def test_a_dataset_added_by_hand_has_only_its_kinds_fields(
    kind: str, location: dict[str, str], name: str, screen: Callable[..., Screen], dataset: Dataset
) -> None:
    engineer = screen("engineer")
    form_address = reverse("admin:registry_dataset_add") + f"?kind={kind}"
    fields = set(engineer.get(form_address).context["adminform"].form.fields)
    assert {f"location_{key}" for key in location} <= fields
    assert ("location_topic" in fields) == (kind == "kafka")
    values = {f"location_{key}": value for key, value in location.items()}
    response = engineer.post(form_address, {"system": dataset.system_id, **values})
    assert response.status_code == 302
    made = Dataset.objects.get(kind=kind, name=name)
    assert made.location.keys() == location.keys()


def test_the_column_page_tells_how_the_column_changed(
    screen: Callable[..., Screen], dataset: Dataset
) -> None:
    publish(dataset, ("id", "bigint"), ("email", "varchar(200)"), ("phone", "varchar(20)"))
    field = dataset.fields.get(name="email")
    page = screen("viewer").get(reverse("admin:registry_field_change", args=[field.pk]))
    newest, first = page.context["steps"]
    assert [(d.what, d.was, d.now) for d in newest.differences] == [
        ("type", "character varying(120)", "character varying(200)")
    ]
    assert first.is_first
