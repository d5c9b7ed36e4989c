"""Bulk writing does what the ORM would: ids, times, JSON, constraints, all or none."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from aide.core import bulk
from aide.work.models import WorkItem

pytestmark = pytest.mark.django_db


def items(count: int) -> list[WorkItem]:
    payload = {
        "text": "tab\t newline\n backslash \\ quote ' \" ключ 🙂",
        "none": None,
        "list": [1, 2.5, True],
    }
    return [WorkItem(task="x", payload=payload, run_after=timezone.now()) for _ in range(count)]


@pytest.mark.parametrize("count", [1, bulk.FEW - 1, bulk.FEW, 500])
def test_rows_read_back_as_written_and_know_their_ids(count: int) -> None:
    rows = items(count)
    bulk.insert(rows)

    assert sorted(row.pk for row in rows) == sorted(WorkItem.objects.values_list("pk", flat=True))
    saved = WorkItem.objects.get(pk=rows[-1].pk)
    assert (saved.payload, saved.key, saved.last_error) == (rows[-1].payload, None, "")
    assert saved.run_after == rows[-1].run_after
    assert saved.created_at == rows[-1].created_at


def test_the_orm_goes_on_counting_after_a_bulk_insert() -> None:
    rows = items(100)
    bulk.insert(rows)
    assert WorkItem.objects.create(task="y", run_after=timezone.now()).pk > max(row.pk for row in rows)


def test_a_broken_constraint_writes_nothing() -> None:
    rows = items(100)
    rows[0].key = rows[99].key = "once"
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert(rows)
    assert not WorkItem.objects.exists()


def test_the_statements_do_not_grow_with_the_rows(django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(2):
        bulk.insert(items(300))


def test_named_columns_are_updated_and_no_others() -> None:
    rows = items(60)
    bulk.insert(rows)
    for number, row in enumerate(rows):
        row.task, row.payload = f"task{number}", {"n": number}
    bulk.update(rows, ["payload"])
    saved = dict(WorkItem.objects.values_list("pk", "payload"))
    assert saved == {row.pk: {"n": number} for number, row in enumerate(rows)}
    assert set(WorkItem.objects.values_list("task", flat=True)) == {"x"}


@pytest.mark.parametrize("count", [1, bulk.FEW - 1, bulk.FEW, 300])
def test_plain_values_become_the_rows_that_objects_would(count: int) -> None:
    rows = items(count)
    bulk.insert(rows)
    names = ("task", "payload", "key", "run_after")
    plain = ("x", rows[0].payload, None, timezone.now())
    ids = bulk.insert_values(WorkItem, names, [plain] * count)

    assert sorted([*ids, *(row.pk for row in rows)]) == sorted(WorkItem.objects.values_list("pk", flat=True))
    own = {"id", "created_at", "updated_at", "run_after"}
    kept = [field.attname for field in WorkItem._meta.concrete_fields if field.attname not in own]
    objects = list(WorkItem.objects.filter(pk__in=[row.pk for row in rows]).values_list(*kept))
    assert list(WorkItem.objects.filter(pk__in=ids).values_list(*kept)) == objects
    saved = WorkItem.objects.get(pk=ids[-1])
    assert saved.created_at is not None
    assert WorkItem.objects.create(task="y", run_after=timezone.now()).pk > max(ids)


def test_updates_of_many_rows_are_few_statements(django_assert_max_num_queries) -> None:
    rows = items(bulk.AT_ONCE + 1)
    bulk.insert(rows)
    for row in rows:
        row.payload, row.key, row.last_error = (
            [] if row.pk % 2 else {"a": ["\\", '"', "{}"]},
            f"k{row.pk}",
            "é",
        )
    with django_assert_max_num_queries(2):
        bulk.update(rows, ["payload", "key", "last_error", "run_after"])
    names = ("pk", "payload", "key", "last_error", "run_after")
    saved = {each[0]: each for each in WorkItem.objects.values_list(*names)}
    assert saved == {row.pk: tuple(getattr(row, name) for name in names) for row in rows}
