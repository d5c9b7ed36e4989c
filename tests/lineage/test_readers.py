"""Who reads what: the check of a document and the risk of a change know the readers that pipelines reported."""

from __future__ import annotations

import pytest

from aide.desk.readers import readers_of
from crawling.baseline import context_of
from lineage.readers import reader_counts
from registry.models import SystemNamespace
from tests.factories import api_client, make_dataset, make_system, make_user, publish
from tests.lineage.events import PG, columns, dataset, run_event, send


@pytest.fixture
def shop(db):
    """orders, read by sums (its column price), by report (unknown which) and by a topic that is in no registry."""
    system = make_system()
    SystemNamespace.objects.create(system=system, namespace=PG)
    orders = make_dataset("orders", system=system)
    publish(orders, ("id", "integer"), ("price", "integer"))
    orders.refresh_from_db()
    sums = make_dataset("sums", system=system, owner="ann")
    report = make_dataset("report", system=system, owner="bob")
    facet = columns(total=[("d.public.orders", "price")])
    send(
        run_event(
            run=1, job="a", reads=["d.public.orders"], writes=[dataset("d.public.sums", columnLineage=facet)]
        ),
        run_event(run=2, job="b", reads=["d.public.orders"], writes=["d.public.report"]),
        run_event(run=3, job="c", reads=["d.public.orders"], writes=[dataset("events", "kafka://b:9092")]),
    )
    return orders, sums, report


def test_readers_are_known_by_field_or_as_a_whole(shop, django_assert_max_num_queries):
    orders, sums, report = shop
    with django_assert_max_num_queries(4):
        found = readers_of(orders, fields=["price"])
    assert {(each.dataset_id, each.field, each.owner) for each in found} == {
        (sums.pk, "price", "ann"), (report.pk, None, "bob"), (None, None, ""),
    }  # fmt: skip
    assert {each.dataset_id for each in readers_of(orders, fields=["id"])} == {report.pk, None}
    assert readers_of(orders, fields=[]) == ()


def test_counts_hold_who_reads_everything(shop):
    orders, _, _ = shop
    assert reader_counts([orders.pk]) == {(orders.pk, None): 2, (orders.pk, "price"): 3}
    context = context_of({orders.pk: orders.name})
    assert (context.readers_of(orders.name, "price"), context.readers_of(orders.name, "id")) == (3, 2)


def test_a_check_lists_who_reads_what_changes(shop):
    orders, sums, report = shop
    document = {
        "fields": [{"name": "id", "native_type": "integer"}, {"name": "price", "native_type": "smallint"}]
    }
    client = api_client(make_user("viewer"))
    answer = client.post(f"/api/v1/datasets/{orders.pk}/check", {"document": document}, format="json")
    assert answer.status_code == 200, answer.content
    listed = answer.json()["readers"]
    assert {(each["dataset_id"], each["field"]) for each in listed} == {
        (sums.pk, "price"), (report.pk, None), (None, None),
    }  # fmt: skip
