"""Suggestions after a publication, on demand, and when the rules change."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.core.errors import NotFound
from aide.work.models import WorkItem
from aide.work.runner import drain
from registry import rulebook, suggesting, tagging
from registry.models import Dataset, Field, FieldShapes, FieldTag, PIIRule, PIITag, System, TagScan
from registry.tasks import look_again_with_new_rules
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db
CODES = ("email", "phone", "person_name", "address", "birth_date", "online_id", "financial", "identifier")


@pytest.fixture(autouse=True)
def _vocabulary() -> None:
    for code in CODES:
        PIITag.objects.get_or_create(code=code, defaults={"name": code, "sensitivity": 2})


def suggested() -> set[tuple[str, str]]:
    rows = FieldTag.objects.filter(state=FieldTag.State.SUGGESTED, until__isnull=True)
    return set(rows.values_list("field__path", "tag__code"))


def customers(system: System | None = None, name: str = "customers") -> Dataset:
    dataset = make_dataset(name, system=system or make_system())
    publish(dataset, ("id", "bigint"), ("email", "text"), ("nick_colour", "text"), ("phone", "text"))
    dataset.refresh_from_db()
    return dataset


def test_a_publication_queues_its_look_and_the_worker_suggests() -> None:
    dataset = customers()
    item = WorkItem.objects.get(task=suggesting.SUGGEST)
    assert item.payload == {"dataset_ids": [dataset.pk]}
    assert suggested() == set()
    drain()
    assert suggested() == {("email", "email"), ("phone", "phone")}
    scan = TagScan.objects.get(dataset=dataset)
    assert scan.rules_version.startswith(rulebook.current().version)
    assert scan.schema_id == dataset.current_schema_id


def test_a_column_that_is_gone_takes_its_suggestion_along() -> None:
    dataset = customers()
    drain()
    publish(dataset, ("id", "bigint"), ("phone", "text"))
    drain()
    assert suggested() == {("phone", "phone")}


def test_a_dataset_and_a_system_are_looked_at_on_demand() -> None:
    dataset = customers()
    WorkItem.objects.all().delete()
    assert suggesting.suggest_for(by=None, dataset=dataset) == 1
    assert suggesting.suggest_for(by=None, system=dataset.system) == 1
    drain()
    assert suggested()
    with pytest.raises(NotFound):
        suggesting.suggest_for(by=None, system=make_system())


def test_new_rules_look_again_at_what_is_undecided_only() -> None:
    dataset = customers()
    drain()
    steward = make_user("steward")
    email = FieldTag.objects.get(field__path="email", until__isnull=True)
    tagging.accept([email], by=steward)
    phone = FieldTag.objects.get(field__path="phone", until__isnull=True)
    PIIRule.objects.create(code=phone.rule, is_active=False)
    PIIRule.objects.create(code="own.nick", tag=PIITag.objects.get(code="identifier"), words=["nick colour"])
    look_again_with_new_rules()
    look_again_with_new_rules()
    assert WorkItem.objects.filter(task=suggesting.STALE).count() == 1
    drain()
    now = FieldTag.objects.filter(until__isnull=True)
    assert ("nick_colour", "identifier") in suggested()
    assert now.get(field__path="email").state == FieldTag.State.CONFIRMED
    assert now.get(field__path="nick_colour").rule_version == "own-1"
    assert not now.filter(rule=phone.rule).exists()
    assert not suggesting.stale().exists()
    look_again_with_new_rules()
    assert not WorkItem.objects.filter(task=suggesting.STALE).exists()
    assert dataset.pk


def test_a_rule_that_cannot_be_read_stops_no_other() -> None:
    customers()
    PIIRule.objects.create(
        code="broken", tag=PIITag.objects.get(code="email"), words=["x"], types=["nonsense"]
    )
    drain()
    assert ("email", "email") in suggested()


def test_shapes_count_only_where_the_system_lets_values_be_looked_at() -> None:
    dataset = customers()
    field = Field.objects.get(dataset=dataset, path="email")
    FieldShapes.objects.create(field=field, counts={"email": 98}, sampled=100, sampled_at=field.created_at)
    drain()
    row = FieldTag.objects.get(field=field, until__isnull=True)
    assert "98 of 100" not in row.evidence
    System.objects.filter(pk=dataset.system_id).update(sample_values=True)
    suggesting.suggest([dataset.pk])
    row.refresh_from_db()
    assert "98 of 100" in row.evidence
    assert row.name_only is False


def test_retired_datasets_are_not_looked_at() -> None:
    dataset = customers()
    Dataset.objects.filter(pk=dataset.pk).update(status=Dataset.Status.RETIRED)
    drain()
    assert suggested() == set()


def test_many_datasets_take_as_many_statements_as_few() -> None:
    system = make_system()
    counts = []
    for size in (5, 40):
        some = [customers(system, f"t{size}_{n}").pk for n in range(size)]
        suggesting.suggest([customers(system, f"warm{size}").pk])
        with CaptureQueriesContext(connection) as asked:
            suggesting.suggest(some)
        counts.append(len(asked))
    assert counts[0] == pytest.approx(counts[1], abs=6)  # bulk writes of more than 40 rows ask for ids
