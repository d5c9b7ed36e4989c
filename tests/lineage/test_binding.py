"""Names that become known: by the registry, by datasets that are made or renamed later, by aliases of stewards."""

from __future__ import annotations

import pytest

from aide.audit.models import AuditEntry
from lineage import resolve
from lineage.matching import match
from lineage.models import ColumnEdge, Edge, Node, NodeColumn, NodeName, RunDataset
from lineage.openlineage import DatasetName
from registry.models import Dataset, Field, SystemNamespace
from tests.factories import api_client, make_dataset, make_system, make_user, publish
from tests.lineage.events import PG, columns, dataset, run_event, send


def known(name: str, namespace: str = PG) -> NodeName:
    return NodeName.objects.select_related("node").get(namespace=namespace, name=name)


def told(name: str, namespace: str = PG) -> tuple[int | None, str]:
    found = match([DatasetName(namespace, name)])[DatasetName(namespace, name)]
    return found.dataset_id, found.matched


@pytest.fixture
def system(db):
    found = make_system(connection_url="postgresql://crawler@db1.example.com/shop")
    SystemNamespace.objects.create(system=found, namespace="prod-shop")
    return found


def test_the_connection_and_the_namespaces_are_a_systems_authorities(system):
    orders = make_dataset("orders", system=system)
    assert told("shop.public.orders") == (orders.pk, "exact")
    assert told("shop.public.orders", "postgresql://DB1.example.com") == (orders.pk, "normalised")
    assert told("public.orders", "prod-shop") == (orders.pk, "exact")
    assert told("shop.public.orders", "postgres://db2:5432") == (None, "unresolved")


def test_another_database_of_the_same_server_is_not_meant(system):
    make_dataset("orders", system=system)
    assert told("other.public.orders") == (None, "unresolved")


def test_case_is_folded_unless_two_could_be_meant(system):
    lower = make_dataset("orders", system=system)
    assert told("shop.public.ORDERS") == (lower.pk, "normalised")
    upper = make_dataset("Orders", system=system)
    assert told("shop.public.Orders") == (upper.pk, "exact")
    assert told("shop.public.ORDERS") == (None, "unresolved")


def test_a_short_name_matches_by_its_end_only_if_that_is_unique(system):
    orders = make_dataset("orders", system=system)
    assert told("orders") == (orders.pk, "normalised")
    Dataset.objects.create(system=system, name="other.orders", kind="rdbms", location={"table": "orders"})
    assert told("orders") == (None, "unresolved")
    assert told("public.orders") == (orders.pk, "exact")


def test_topics_and_paths_are_whole_names(db):
    kafka = make_system(flavor="kafka_json")
    SystemNamespace.objects.create(system=kafka, namespace="kafka://b1:9092")
    topic = Dataset.objects.create(system=kafka, kind="kafka", name="orders.v1")
    lake = make_system(flavor="parquet")
    SystemNamespace.objects.create(system=lake, namespace="s3://lake")
    path = Dataset.objects.create(system=lake, kind="storage", name="lake/curated/orders")
    assert told("orders.v1", "kafka://B1") == (topic.pk, "normalised")
    assert told("v1", "kafka://b1:9092") == (None, "unresolved")
    assert told("/curated/orders/day=2026-03-01", "s3a://lake") == (path.pk, "normalised")
    assert told("curated", "s3://lake") == (None, "unresolved")


def test_a_dataset_that_is_made_later_takes_its_lineage(system):
    send(run_event(reads=["shop.public.orders"], writes=["shop.public.sums"]))
    assert known("shop.public.orders").matched == "unresolved"
    orders = make_dataset("orders", system=system)
    assert resolve.resolve_again() == 1
    row = known("shop.public.orders")
    assert (row.matched, row.node.dataset_id) == ("exact", orders.pk)
    assert Edge.objects.filter(source__dataset=orders).count() == 1


def test_a_renamed_dataset_keeps_its_lineage_and_takes_that_of_its_new_name(system):
    orders = make_dataset("orders", system=system)
    send(run_event(run=1, reads=["shop.public.orders"], writes=["shop.public.sums"]))
    send(run_event(run=2, reads=["shop.public.sales"], writes=["shop.public.sums"]))
    send(run_event(run=3, reads=["shop.public.sales"], writes=["shop.public.more"]))
    orders.name, orders.location = "public.sales", {"schema": "public", "table": "sales"}
    orders.save()
    resolve.resolve_again()
    assert {row.node.dataset_id for row in (known("shop.public.orders"), known("shop.public.sales"))} == {
        orders.pk
    }
    assert Node.objects.count() == 3
    assert Edge.objects.filter(source__dataset=orders).count() == 2
    assert RunDataset.objects.filter(node__dataset=orders).count() == 3


def test_a_renamed_column_keeps_its_lineage(system):
    orders = make_dataset("orders", system=system)
    publish(orders, ("id", "integer"), ("mail", "text"))
    target = "shop.public.sums"
    send(
        run_event(run=1, writes=[dataset(target, columnLineage=columns(a=[("shop.public.orders", "mail")]))])
    )
    send(
        run_event(run=2, writes=[dataset(target, columnLineage=columns(b=[("shop.public.orders", "email")]))])
    )
    mail = Field.objects.get(path="mail")
    Field.objects.filter(pk=mail.pk).update(path="email", name="email")
    resolve.bind_columns()
    assert NodeColumn.objects.filter(field=mail).count() == 1
    assert ColumnEdge.objects.filter(source__field=mail).count() == 2
    send(
        run_event(run=3, writes=[dataset(target, columnLineage=columns(c=[("shop.public.orders", "email")]))])
    )
    assert ColumnEdge.objects.filter(source__field=mail).count() == 3


def test_a_steward_binds_a_name_and_takes_it_back(system):
    steward = make_user("steward")
    steward.systems.add(system)
    orders = make_dataset("orders", system=system)
    send(run_event(reads=[dataset("ORD", "legacy")], writes=["shop.public.sums"]))
    client = api_client(steward)
    listed = client.get("/api/v1/lineage/names", {"matched": "unresolved", "namespace": "legacy"}).json()
    assert listed["total"] == 1
    address = f"/api/v1/lineage/names/{listed['items'][0]['id']}"
    answer = client.post(f"{address}/bind", {"dataset_id": orders.pk}, format="json")
    assert answer.status_code == 200, answer.content
    assert (answer.json()["matched"], answer.json()["dataset_id"]) == ("alias", orders.pk)
    assert AuditEntry.objects.filter(action="lineage.bind", actor=steward).count() == 1
    send(run_event(run=5, reads=[dataset("ORD", "legacy")], writes=["shop.public.more"]))
    assert Edge.objects.filter(source__dataset=orders).count() == 2
    back = client.post(f"{address}/unbind")
    assert back.status_code == 200, back.content
    assert (back.json()["matched"], back.json()["dataset_id"]) == ("unresolved", None)
    assert client.post(f"{address}/unbind").status_code == 409


def test_a_steward_of_another_system_may_not_bind(system):
    steward = make_user("steward")
    steward.systems.add(make_system())
    orders = make_dataset("orders", system=system)
    send(run_event(reads=[dataset("ORD", "legacy")]))
    address = f"/api/v1/lineage/names/{known('ORD', 'legacy').pk}/bind"
    assert api_client(steward).post(address, {"dataset_id": orders.pk}, format="json").status_code == 403
    assert known("ORD", "legacy").matched == "unresolved"


def test_changes_in_the_registry_have_names_looked_up_again(system, django_capture_on_commit_callbacks):
    from aide.work.models import WorkItem

    send(run_event(reads=["shop.public.orders"]))
    with django_capture_on_commit_callbacks(execute=True):
        publish(make_dataset("orders", system=system), ("id", "integer"))
    assert WorkItem.objects.filter(task=resolve.TASK).count() == 1
