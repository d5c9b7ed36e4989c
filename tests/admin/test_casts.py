"""The cast matrix, its panel and CSV, a dataset tried elsewhere, and the form of rules."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from aide.audit.models import AuditEntry
from registry.admin import cast_matrix
from registry.models import CastRule, Dataset, DataType
from tests.admin.conftest import Screen
from tests.admin.test_pages import check_markup
from tests.factories import make_dataset, make_flavor, publish


@pytest.fixture
def world(dataset: Dataset) -> Dataset:
    """PostgreSQL and Hive, with columns of six types."""
    make_flavor("hive")
    orders = make_dataset("orders", system=dataset.system, status=Dataset.Status.ACTIVE)
    publish(orders, ("id", "bigint"), ("total", "numeric(12,2)"), ("ip", "inet"), ("body", "tsvector"))
    orders.refresh_from_db()
    return orders


def matrix(client: Screen, **query: str) -> Any:
    answer = client.get(reverse("admin:registry_cast_matrix"), {"from": "postgresql", "to": "hive", **query})
    assert answer.status_code == 200
    return answer


def data_type(flavor: str, code: str) -> DataType:
    return DataType.objects.get(flavor__code=flavor, code=code)


def make_rule(source: str, target: str, **values: Any) -> CastRule:
    return CastRule.objects.create(
        source_data_type=data_type("postgresql", source), target_data_type=data_type("hive", target), **values
    )


def test_the_matrix_has_row_and_column_heads_and_a_word_in_each_cell(
    screen: Callable[..., Screen], world: Dataset
) -> None:
    html = matrix(screen("viewer")).content.decode()
    check_markup(html, "matrix")
    assert '<th scope="col" class="mono tall"><span>decimal</span></th>' in html
    assert html.count('<th scope="row"') > 90
    assert "lossless" in html
    assert "lossy" in html
    assert "Add rule" not in html


def test_used_types_only_counts_columns_and_names_what_is_missing(
    screen: Callable[..., Screen], world: Dataset
) -> None:
    answer = matrix(screen("viewer"), used="1")
    rows = {row.typedef.code: row for row in answer.context["matrix"].rows}
    assert {code: row.columns for code, row in rows.items()} == {
        "bigint": 2, "varchar": 2, "numeric": 1, "inet": 1, "tsvector": 1,
    }  # fmt: skip
    assert rows["numeric"].sample.rendered == "numeric(12,2)"
    html = answer.content.decode()
    assert "5 types in use, 3 covered." in html
    missing = matrix(screen("viewer"), used="1", missing="1").context["matrix"].rows
    assert [row.typedef.code for row in missing] == ["inet", "tsvector"]


def test_a_cell_opens_a_panel_with_examples_and_a_way_to_add_a_rule(
    screen: Callable[..., Screen], world: Dataset
) -> None:
    viewer, engineer = screen("viewer"), screen("engineer")
    whole = matrix(viewer, source="numeric", target="decimal").content.decode()
    assert "numeric(12,2)" in whole
    part = matrix(engineer, source="numeric", target="decimal", panel="1").content.decode()
    assert "<html" not in part
    assert "Every digit before and behind the point fits" in part
    source, target = data_type("postgresql", "numeric"), data_type("hive", "decimal")
    assert f"source_data_type={source.pk}&amp;target_data_type={target.pk}" in part
    assert "Add rule" not in matrix(viewer, source="numeric", target="decimal", panel="1").content.decode()
    assert matrix(viewer, source="no such type", panel="1").status_code == 200


def test_a_rule_shows_in_cell_and_panel_with_who_and_when(
    screen: Callable[..., Screen], world: Dataset
) -> None:
    engineer = screen("engineer")
    form = {
        "source_data_type": data_type("postgresql", "inet").pk,
        "target_data_type": data_type("hive", "string").pk,
        "safety": "lossless", "param_mapping": "{}", "template": "host({{ column }})", "note": "",
    }  # fmt: skip
    answer = engineer.post(reverse("admin:registry_castrule_add"), form)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert AuditEntry.objects.filter(action="cast_rule.create").exists()
    shown = matrix(engineer, used="1")
    cells = {row.typedef.code: row for row in shown.context["matrix"].rows}["inet"]
    assert (cells.cast.safety, cells.cast.rule is not None) == ("lossless", True)
    part = matrix(engineer, source="inet", target="string", panel="1").content.decode()
    assert "host({{ column }})" in part
    assert "by engineer" in part
    assert "Edit rule" in part


def test_the_matrix_as_a_list_and_as_csv(screen: Callable[..., Screen], world: Dataset) -> None:
    client = screen("viewer")
    listed = matrix(client, view="list", used="1").content.decode()
    check_markup(listed, "list")
    assert "Hive has no type for network addresses" in listed
    answer = matrix(client, format="csv", used="1")
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    found = {row["type"]: row for row in rows}
    assert found["numeric"]["becomes"] == "decimal(12,2)"
    assert found["numeric"]["string"] == "lossless"
    assert found["inet"]["safety"] == "none"


@pytest.mark.parametrize(
    "query", [{"from": "nowhere"}, {"to": "\x00"}, {"from": "hive", "to": "hive"}, {"view": "x"}]
)
def test_strange_addresses_show_a_page(
    screen: Callable[..., Screen], world: Dataset, query: dict[str, str]
) -> None:
    assert matrix(screen("viewer"), **query).status_code == 200


def test_the_matrix_takes_few_queries(
    screen: Callable[..., Screen], world: Dataset, django_assert_max_num_queries: Any
) -> None:
    client = screen("viewer")
    matrix(client)
    with django_assert_max_num_queries(10):
        matrix(client)


def test_what_was_found_out_about_a_pair_is_kept_until_a_type_or_rule_changes(
    screen: Callable[..., Screen], world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, judged = screen("viewer"), []
    real = cast_matrix.Matrix._judged
    monkeypatch.setattr(cast_matrix.Matrix, "_judged", lambda *args: judged.append(1) or real(*args))
    first = matrix(client).content
    asked = len(judged)
    matrix(client)
    assert len(judged) == asked
    rule = make_rule("numeric", "string", safety="unsafe")
    changed = matrix(client).content
    assert len(judged) > asked
    assert changed != first
    asked = len(judged)
    rule.row_version += 1
    rule.save()
    matrix(client)
    assert len(judged) > asked
    asked = len(judged)
    data_type("postgresql", "numeric").save()
    matrix(client)
    assert len(judged) > asked


def test_postgresql_in_hive_lacks_three_types(screen: Callable[..., Screen], world: Dataset) -> None:
    shown = matrix(screen("viewer"), missing="1").context["matrix"]
    assert sorted(row.typedef.code for row in shown.rows) == ["inet", "money", "tsvector"]


def test_a_dataset_is_tried_in_another_technology(screen: Callable[..., Screen], world: Dataset) -> None:
    client = screen("viewer")
    address = reverse("admin:registry_cast_try")
    empty = client.get(address).content.decode()
    assert "Choose a dataset" in empty
    html = client.get(address, {"dataset": world.pk, "to": "hive"}).content.decode()
    check_markup(html, "try")
    assert "4 columns, 2 without a type there" in html
    assert "CREATE TABLE `public`.`orders`" in html
    for odd in ("x", "9" * 30, "-1"):
        assert "There is no such dataset" in client.get(address, {"dataset": odd}).content.decode()


def test_a_datasets_page_leads_to_its_trial(screen: Callable[..., Screen], world: Dataset) -> None:
    client = screen("viewer")
    page = client.get(reverse("admin:registry_dataset_change", args=[world.pk])).content.decode()
    link = f"{reverse('admin:registry_cast_try')}?dataset={world.pk}"
    assert f'href="{link}"' in page
    assert "orders" in client.get(link).content.decode()
    bare = make_dataset("bare", system=world.system)
    page = client.get(reverse("admin:registry_dataset_change", args=[bare.pk])).content.decode()
    assert reverse("admin:registry_cast_try") not in page, "nothing to try without a version"


def test_the_form_of_a_rule_says_what_is_wrong(screen: Callable[..., Screen], world: Dataset) -> None:
    client = screen("engineer")
    make_rule("numeric", "decimal")
    form = {
        "source_data_type": data_type("postgresql", "numeric").pk,
        "target_data_type": data_type("hive", "decimal").pk,
        "safety": "lossy", "param_mapping": '{"length": 3}', "template": "{{ x", "note": "",
    }  # fmt: skip
    html = client.post(reverse("admin:registry_castrule_add"), form).content.decode()
    assert "decimal takes no parameter length." in html
    assert "There is a rule between these two types already." in html
    assert screen("viewer").get(reverse("admin:registry_castrule_add")).status_code == 403
    assert client.get(reverse("admin:registry_castrule_changelist")).status_code == 200
