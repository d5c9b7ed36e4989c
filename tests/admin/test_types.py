"""The type catalogue: a live preview, examples that are checked, templates that are refused with their line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.urls import reverse

from registry.models import DataType
from tests.admin.conftest import Screen
from tests.factories import make_flavor


def numeric() -> DataType:
    return make_flavor().data_types.get(code="numeric")


def form_of(data_type: DataType, **changes: Any) -> dict[str, Any]:
    return {
        "flavor": data_type.flavor_id,
        "code": data_type.code,
        "name": data_type.name,
        "category": data_type.category,
        "logical_type": data_type.logical_type,
        "aliases": ", ".join(data_type.aliases),
        "params_schema": json.dumps(data_type.params_schema),
        "render_template": data_type.render_template,
        "slots": json.dumps(data_type.slots),
        "examples": json.dumps([{"params": {"precision": 12, "scale": 2}, "sql": "numeric(12,2)"}]),
        "seen_version": data_type.row_version,
        **changes,
    }


def test_the_preview_shows_what_the_parameters_write(screen: Callable[..., Screen], db: None) -> None:
    address = reverse("admin:registry_datatype_preview", args=[numeric().pk])
    viewer = screen("viewer")
    assert "numeric(12,2)" in viewer.get(address, {"precision": "12", "scale": "2"}).content.decode()
    wrong = viewer.get(address, {"precision": "12", "scale": "13"}).content.decode()
    assert 'id="p-scale-error"' in wrong
    assert "scale must not be larger than precision" in wrong
    assert "numeric(12,13)" not in wrong


def test_a_broken_template_is_refused_with_its_line(screen: Callable[..., Screen], db: None) -> None:
    data_type = numeric()
    address = reverse("admin:registry_datatype_change", args=[data_type.pk])
    page = screen("engineer").post(address, form_of(data_type, render_template="numeric\n{% if %}"))
    assert page.status_code == 200
    assert "Line 2:" in page.content.decode()
    data_type.refresh_from_db()
    assert data_type.row_version == 1


def test_an_example_that_does_not_hold_is_refused(screen: Callable[..., Screen], db: None) -> None:
    data_type = numeric()
    address = reverse("admin:registry_datatype_change", args=[data_type.pk])
    page = screen("engineer").post(address, form_of(data_type, render_template="decimal"))
    assert "should give numeric(12,2), but it writes decimal" in page.content.decode()


def test_a_right_change_is_saved(screen: Callable[..., Screen], db: None) -> None:
    data_type = numeric()
    address = reverse("admin:registry_datatype_change", args=[data_type.pk])
    response = screen("engineer").post(address, form_of(data_type, aliases="decimal, dec, number"))
    assert response.status_code == 302
    data_type.refresh_from_db()
    assert (data_type.aliases, data_type.row_version) == (["decimal", "dec", "number"], 2)


def test_a_viewer_sees_the_preview_and_no_form_fields(screen: Callable[..., Screen], db: None) -> None:
    data_type = numeric()
    response = screen("viewer").get(reverse("admin:registry_datatype_change", args=[data_type.pk]))
    page = response.content.decode()
    assert 'name="precision"' in page
    assert 'name="render_template"' not in page
    assert 'name="_save"' not in page


def test_every_bundled_type_has_a_page(screen: Callable[..., Screen], type_catalogues: None) -> None:
    client = screen("viewer")
    for pk in DataType.objects.order_by("pk").values_list("pk", flat=True)[::6]:
        assert client.get(reverse("admin:registry_datatype_change", args=[pk])).status_code == 200
