"""Every filter of every list takes any value: what no column can hold matches nothing. And late badges."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.options import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.test import RequestFactory
from django.urls import reverse

from aide.desk import work_counts
from tests.admin.conftest import Screen
from tests.factories import make_dataset, make_user

pytestmark = pytest.mark.django_db
TOO_BIG = ("99999999999999999999999", "-99999999999999999999999", "1,99999999999999999999999", "1\x00")
admin.autodiscover()
FILTERED = [each for each in admin.site._registry.values() if each.list_filter]


def parameters(model_admin: ModelAdmin[Any]) -> list[str]:
    """What the list's filters read from the address, and the fields' plain names."""
    request = RequestFactory().get("/")
    request.user = make_user("admin")
    found: set[str] = set()
    changes: ChangeList = model_admin.get_changelist_instance(request)
    for each in changes.get_filters(request)[0]:
        found.update(name for name in each.expected_parameters() if name)
    for own in model_admin.list_filter:
        name = own[0] if isinstance(own, tuple) else own
        if isinstance(name, str):
            found.update({name, f"{name}__exact", f"{name}__in"})
            if model_admin.opts.get_field(name.split("__")[0]).is_relation:
                found.update({f"{name}__id__exact", f"{name}__id__in", f"{name}__id__gt"})
    return sorted(found)


@pytest.mark.parametrize("model_admin", FILTERED, ids=lambda each: each.opts.label_lower)
def test_no_value_of_a_filter_breaks_a_list(model_admin: ModelAdmin[Any], admin_client: Screen) -> None:
    address = reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist")
    names = parameters(model_admin)
    assert names
    for name in names:
        for value in (*TOO_BIG, "words", "9" * 5000, ""):
            answer = admin_client.get(address, {name: value}, follow=True)
            assert answer.status_code in {200, 400}, (name, value[:30])


def test_a_number_that_no_id_reaches_matches_nothing(admin_client: Screen) -> None:
    dataset = make_dataset()
    address = reverse("admin:registry_dataset_changelist")
    assert dataset.name in admin_client.get(address, {"system": dataset.system_id}).content.decode()
    answer = admin_client.get(address, {"system": TOO_BIG[0]})
    assert answer.status_code == 200
    assert answer.context["cl"].result_count == 0


def test_work_that_is_done_stands_though_the_badges_cannot_be_refreshed(
    admin_client: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(user: Any) -> None:
        raise ConnectionError("cache is gone")

    monkeypatch.setattr(work_counts, "forget_badges", fails)
    answer = admin_client.post(reverse("admin:registry_dataset_changelist"), {})
    assert answer.status_code < 500
