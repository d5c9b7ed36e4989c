"""Lists as files: what the filter shows, all pages, whole names, exact times, and no formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.urls import reverse

from registry.models import Dataset, Field, System
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_system, publish


def rows_of(client: Screen, address: str, query: dict[str, Any] | None = None) -> list[list[str]]:
    answer = client.get(address, query or {})
    assert answer.status_code == 200
    assert answer.streaming
    assert answer["Content-Disposition"].startswith("attachment;")
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text)))


def test_the_filter_and_the_columns_of_the_screen_are_kept_on_all_pages(
    screen: Callable[..., Screen], system: System
) -> None:
    row = make_dataset(system=system)
    publish(row, *((f"mail_{n}", "text") for n in range(130)), ("other", "text"))
    publish(make_dataset(system=make_system("billing")), ("mail_x", "text"))
    address = reverse("admin:registry_field_export")
    query = {"q": "mail_", "dataset__system__id__exact": system.pk}
    page = screen("viewer").get(reverse("admin:registry_field_changelist"), query).content.decode()
    assert f"{address}?q=mail_&amp;dataset__system__id__exact={system.pk}" in page
    header, *rows = rows_of(screen("viewer"), address, query)
    assert header == ["Field", "Dataset", "System", "Description", "Owner", "Personal data"]
    assert {name for name, *_ in rows} == {f"mail_{n}" for n in range(130)}
    assert (
        "Export"
        in screen("steward", systems=(system,))
        .get(reverse("admin:registry_field_changelist"))
        .content.decode()
    )


def test_names_are_whole_and_nothing_is_a_formula(screen: Callable[..., Screen], system: System) -> None:
    name = "a_very_long_name_" * 8
    row = make_dataset(system=system)
    publish(row, (name, "text"), ("=cmd", "text"))
    Field.objects.filter(name=name).update(description="@SUM(1)" + "x" * 300, owner="-1")
    header, *rows = rows_of(screen("steward", systems=(system,)), reverse("admin:registry_field_export"))
    by_name = {each[0]: dict(zip(header, each, strict=True)) for each in rows}
    assert set(by_name) == {name, "'=cmd"}
    assert by_name[name]["Description"] == "'@SUM(1)" + "x" * 300
    assert by_name[name]["Owner"] == "'-1"
    assert by_name["'=cmd"]["Personal data"] == ""


def test_times_are_exact_and_words_have_no_markup(screen: Callable[..., Screen], dataset: Dataset) -> None:
    header, row = rows_of(screen("viewer"), reverse("admin:registry_dataset_export"))
    told = dict(zip(header, row, strict=True))
    assert (told["Dataset"], told["Status"], told["Version"]) == ("public.customers", "Active", "1")
    assert told["Changed"].startswith(dataset.updated_at.strftime("%Y-%m-%dT%H:%M"))


def test_every_list_has_its_file(screen: Callable[..., Screen], dataset: Dataset) -> None:
    client = screen("admin", "engineer", "approver")
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        if client.get(reverse(f"admin:{name}_changelist")).status_code == 200:
            header, *rows = rows_of(client, reverse(f"admin:{name}_export"))
            assert header, name
            assert not any("<" in cell for row in rows for cell in row), name


def test_a_list_that_one_may_not_see_has_no_file(screen: Callable[..., Screen], dataset: Dataset) -> None:
    assert screen("viewer").get(reverse("admin:audit_auditentry_export")).status_code == 403
    bad = {"dataset__system__id__exact": "x", "retired_at__year": "y"}
    assert screen("viewer").get(reverse("admin:registry_field_export"), bad).status_code in {400, 404}
