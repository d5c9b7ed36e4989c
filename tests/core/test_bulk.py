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
