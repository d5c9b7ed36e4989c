"""Tags travel along column lineage: as suggestions with their way, never past a mask, gone with their source."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from aide.accounts.models import User
from aide.work.models import WorkItem
from aide.work.runner import drain
from lineage import spreading, tag_propagation
from lineage.merging.columns import column_key
from lineage.models import ColumnEdge, Job, Node, NodeColumn
from registry import tagging
from registry.models import Dataset, Field, FieldTag, PIITag
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db
NOW = timezone.now()


class Graph:
    """Columns `a`, `b`, … of one table each, and edges between them."""

    def __init__(self) -> None:
        self.system = make_system("dwh")
        self.job = Job.objects.create(
            key="k", namespace="jobs", name="nightly", first_seen=NOW, last_seen=NOW
        )
        self.columns: dict[str, NodeColumn] = {}

    def column(self, name: str, *, known: bool = True) -> NodeColumn:
        if name in self.columns:
            return self.columns[name]
        field = None
        node = Node(namespace="n", name=name, first_seen=NOW, last_seen=NOW)
        if known:
            dataset = make_dataset(name, system=self.system, status=Dataset.Status.ACTIVE)
            publish(dataset, ("c", "text"))
            field = Field.objects.get(dataset=dataset)
            node.dataset = dataset
        node.save()
        self.columns[name] = NodeColumn.objects.create(node=node, key=column_key("c"), path="c", field=field)
        return self.columns[name]

    def edges(self, *pairs: str, **values: Any) -> None:
        for pair in pairs:
            source, target = pair.split(">")
            ColumnEdge.objects.create(
                source=self.column(source), target=self.column(target), job=self.job,
                first_seen=NOW, last_seen=NOW, **values,
            )  # fmt: skip

    def field(self, name: str) -> Field:
        return Field.objects.select_related("dataset__system").get(dataset__name=f"public.{name}")

    def suggested(self) -> dict[str, FieldTag]:
        rows = FieldTag.objects.filter(until=None, state="suggested", origin="lineage")
        return {
            row.field.dataset.name.removeprefix("public."): row
            for row in rows.select_related("field__dataset")
        }


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def tag() -> PIITag:
    return PIITag.objects.create(code="kind_x", name="Kind", sensitivity=2)


@pytest.fixture
def steward() -> User:
    return make_user("steward")


def test_a_confirmed_tag_travels_downstream_with_its_way(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.edges("a>b", "b>c", "x>a")
    tagging.confirm(graph.field("a"), tag, by=steward)
    done = tag_propagation.propagate()
    found = graph.suggested()
    assert set(found) == {"b", "c"}
    assert found["c"].path == ["dwh/public.a.c", "dwh/public.b.c", "dwh/public.c.c"]
    assert found["c"].evidence == "Its values come from dwh/public.a.c, which carries this tag (2 steps)."
    assert (found["b"].confidence, found["c"].confidence) == (0.95, 0.92)
    assert {row.batch for row in found.values()} == {done.batch}
    assert found["b"].native_type == "text"


def test_it_stops_where_values_are_masked_or_only_decide_or_no_longer_flow(
    graph: Graph, tag: PIITag, steward: User
) -> None:
    graph.edges("a>masked", masking=True)
    graph.edges("a>filtered", transformation="INDIRECT/FILTER")
    graph.edges("a>past", ended_at=NOW)
    graph.edges("masked>after", "a>plain")
    graph.edges("a>same", transformation="DIRECT/IDENTITY")
    tagging.confirm(graph.field("a"), tag, by=steward)
    tag_propagation.propagate()
    assert set(graph.suggested()) == {"plain", "same"}


def test_it_passes_columns_that_the_registry_does_not_know(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.column("middle", known=False)
    graph.edges("a>middle", "middle>z")
    tagging.confirm(graph.field("a"), tag, by=steward)
    tag_propagation.propagate()
    assert graph.suggested()["z"].path == ["dwh/public.a.c", "middle.c", "dwh/public.z.c"]


def test_cycles_and_several_tags(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.edges("a>b", "b>c", "c>a", "d>b")
    other = PIITag.objects.create(code="kind_y", name="Other", sensitivity=2)
    tagging.confirm(graph.field("a"), tag, by=steward)
    tagging.confirm(graph.field("d"), other, by=steward)
    tag_propagation.propagate()
    rows = FieldTag.objects.filter(until=None, state="suggested")
    found = sorted(rows.values_list("field__dataset__name", "tag__code"))
    assert found == [
        ("public.a", "kind_y"), ("public.b", "kind_x"), ("public.b", "kind_y"), ("public.c", "kind_x"),
        ("public.c", "kind_y"),
    ]  # fmt: skip


def test_what_came_from_a_tag_that_is_gone_goes_too(
    graph: Graph, tag: PIITag, steward: User, django_capture_on_commit_callbacks: Any
) -> None:
    graph.edges("a>b", "d>e", "b>f")
    with django_capture_on_commit_callbacks(execute=True):
        row = tagging.confirm(graph.field("a"), tag, by=steward)
        tagging.confirm(graph.field("d"), tag, by=steward)
    drain()
    assert set(graph.suggested()) == {"b", "e", "f"}
    with django_capture_on_commit_callbacks(execute=True):
        tagging.remove(row, by=steward)
        tagging.remove(row, by=make_user("approver"))
    drain()
    assert set(graph.suggested()) == {"e"}


def test_a_no_ends_the_way_and_is_not_asked_again(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.edges("a>b", "b>c")
    tagging.confirm(graph.field("a"), tag, by=steward)
    tag_propagation.propagate()
    tagging.reject(graph.suggested()["b"], reason="Only hashes", by=steward)
    tag_propagation.propagate()
    assert graph.suggested() == {}


def test_one_batch_is_undone_as_one_and_stays_undone(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.edges("a>b", "b>c", "a>d")
    tagging.confirm(graph.field("a"), tag, by=steward)
    batch = tag_propagation.propagate().batch
    tagging.accept([graph.suggested()["d"]], by=steward)
    assert tagging.undo(batch, by=steward).undone == 2
    tag_propagation.propagate()
    assert graph.suggested() == {}
    assert FieldTag.objects.get(field=graph.field("d"), until=None).state == "confirmed"


def test_working_it_out_again_writes_nothing(graph: Graph, tag: PIITag, steward: User) -> None:
    graph.edges("a>b", "b>c")
    tagging.confirm(graph.field("a"), tag, by=steward)
    tag_propagation.propagate()
    again = tag_propagation.propagate().offered
    assert (again.new, again.changed, again.withdrawn) == (0, 0, 0)


def test_new_edges_are_noticed_once(graph: Graph) -> None:
    WorkItem.objects.all().delete()
    graph.edges("a>b")
    WorkItem.objects.all().delete()
    tag_propagation.propagate_over_new_edges()
    tag_propagation.propagate_over_new_edges()
    assert WorkItem.objects.filter(task=tag_propagation.TASK).count() == 1


def test_a_deep_graph_ends_without_a_statement_for_each_level(
    graph: Graph, tag: PIITag, steward: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tag_propagation, "LEVELS", 3)
    graph.edges(*(f"n{n}>n{n + 1}" for n in range(20)))
    tagging.confirm(graph.field("n0"), tag, by=steward)
    tag_propagation.propagate()
    found = graph.suggested()
    assert len(found) == 20
    assert (len(found["n20"].path), found["n20"].confidence) == (
        tag_propagation.LONGEST,
        tag_propagation.LEAST,
    )


def test_marks_spread_as_walking_each_alone_would() -> None:
    edges = [(1, 2), (2, 3), (3, 1), (2, 4), (5, 4), (4, 6), (6, 6), (7, 8)]

    def following(columns: list[int]) -> list[tuple[int, int]]:
        return [pair for pair in edges if pair[0] in columns]

    found = spreading.spread({1: 1, 5: 2, 7: 4}, following, stops={4: 1})
    assert found.marks == {1: 1, 2: 1, 3: 1, 5: 2, 4: 2, 6: 2, 7: 4, 8: 4}
    assert found.way(6, 2) == [5, 4, 6]
    assert found.way(3, 1) == [1, 2, 3]
