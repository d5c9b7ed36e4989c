"""Lineage: OpenLineage events in, graphs out, names and edges that people put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from aide_sdk.calls import Call, Repeat, nothing, plain
from aide_sdk.models import Graph, LineageBatch, LineageEvent, LineageJob, LineageName, LineageRun, Page
from aide_sdk.models.base import one, page_of
from aide_sdk.operations import Mode, Resource, listing, operation
from aide_sdk.resources.crud import Readable, queried

Level = Literal["dataset", "column"]


class Lineage(Resource[Mode]):
    """`/lineage`: OpenLineage events in, graphs out."""

    path = "/lineage"

    @operation("POST", repeat=Repeat.KEYED)
    def create(
        self, event: Mapping[str, Any], /, *, idempotency_key: str | None = None
    ) -> Call[dict[str, Any]]:
        """Send one OpenLineage event. A repetition is known by its content."""
        return Call(plain, json=event, key=idempotency_key)

    @operation("POST", "/batch", repeat=Repeat.KEYED)
    def create_many(
        self, events: Iterable[Mapping[str, Any]], /, *, idempotency_key: str | None = None
    ) -> Call[LineageBatch]:
        """Send many; `failed_events` names those that were refused."""
        return Call(one(LineageBatch), json=[*events], key=idempotency_key)

    @operation("GET", "/graph")
    def graph(
        self,
        *,
        dataset_id: int | None = None,
        namespace: str | None = None,
        name: str | None = None,
        field: str | None = None,
        direction: Literal["up", "down", "both"] | None = None,
        depth: int | None = None,
        level: Level | None = None,
        as_of: str | datetime | None = None,
        limit: int | None = None,
    ) -> Call[Graph]:
        """What leads to a dataset or column and what follows from it; it is in the graph with depth 0."""
        query = {
            "dataset_id": dataset_id,
            "namespace": namespace,
            "name": name,
            "field": field,
            "direction": direction,
            "depth": depth,
            "level": level,
            "as_of": as_of,
            "limit": limit,
        }
        return Call(one(Graph), query=query)

    @operation("POST", "/edges")
    def draw(
        self, source: Mapping[str, Any], target: Mapping[str, Any], *, reason: str
    ) -> Call[dict[str, Any]]:
        """Draw an edge that no event told of; an end is `{"dataset_id"}` or `{"namespace", "name"}`, with a
        `field` for a column."""
        return Call(plain, json={"source": source, "target": target, "reason": reason})

    @operation("DELETE", "/edges/{key}")
    def end(self, key: int, *, reason: str, level: Level | None = None) -> Call[None]:
        """End an edge from now on."""
        return Call(nothing, at={"key": key}, query={"reason": reason, "level": level})


class LineageEvents(Resource[Mode]):
    """`/lineage/events`: OpenLineage events as they came."""

    path = "/lineage/events"

    @listing(by_cursor=True)
    def list(
        self, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[Page[LineageEvent]]:
        """Every raw event that the filters let through, newest first."""
        return Call(page_of(LineageEvent), query=queried(where, filters, size=size))

    @operation("GET")
    def page(
        self, page: int = 1, where: Mapping[str, Any] | None = None, /, *, size: int = 50, **filters: Any
    ) -> Call[Page[LineageEvent]]:
        """One page, with the total."""
        return Call(page_of(LineageEvent), query=queried(where, filters, page=page, size=size))


class LineageJobs(Resource[Mode]):
    """`/lineage/jobs`"""

    path = "/lineage/jobs"

    @listing()
    def list(
        self, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[Page[LineageJob]]:
        """Every job that the filters let through."""
        return Call(page_of(LineageJob), query=queried(where, filters, size=size))


class LineageRuns(Resource[Mode]):
    """`/lineage/runs`"""

    path = "/lineage/runs"

    @listing()
    def list(
        self, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[Page[LineageRun]]:
        """Every run that the filters let through."""
        return Call(page_of(LineageRun), query=queried(where, filters, size=size))


class LineageNames(Readable[LineageName, Mode]):
    """`/lineage/names`: what events call datasets, and which ones are meant."""

    path = "/lineage/names"
    model = LineageName

    @operation("POST", "/{key}/bind")
    def bind(self, key: int, *, dataset_id: int) -> Call[LineageName]:
        """This name means that dataset; old events follow."""
        return Call(one(LineageName), at={"key": key}, json={"dataset_id": dataset_id})

    @operation("POST", "/{key}/unbind")
    def unbind(self, key: int) -> Call[LineageName]:
        """Take a person's word back."""
        return Call(one(LineageName), at={"key": key})


class Marquez(Resource[Mode]):
    """The reading addresses of Marquez, in its own shapes, for scripts written for it."""

    @operation("GET", "/lineage")
    def lineage(self, node_id: str, *, depth: int | None = None) -> Call[dict[str, Any]]:
        """The graph around a node (`dataset:namespace:name`)."""
        return Call(plain, query={"nodeId": node_id, "depth": depth})

    @operation("GET", "/column-lineage")
    def column_lineage(
        self, node_id: str, *, depth: int | None = None, with_downstream: bool | None = None
    ) -> Call[dict[str, Any]]:
        """The graph around a column (`datasetField:namespace:name:field`)."""
        query = {"nodeId": node_id, "depth": depth, "withDownstream": with_downstream}
        return Call(plain, query=query)

    @operation("GET", "/events/lineage")
    def events(self, **query: Any) -> Call[dict[str, Any]]:
        """Raw events: `before`, `after`, `limit`, `offset`, `sortDirection`."""
        return Call(plain, query=query)

    @operation("GET", "/jobs")
    def jobs(self, **query: Any) -> Call[dict[str, Any]]:
        """Jobs of every namespace: `lastRunStates`, `limit`, `offset`."""
        return Call(plain, query=query)

    @operation("GET", "/namespaces")
    def namespaces(self, **query: Any) -> Call[dict[str, Any]]:
        """Namespaces: `limit`, `offset`."""
        return Call(plain, query=query)

    @operation("GET", "/namespaces/{name}")
    def namespace(self, name: str, **query: Any) -> Call[dict[str, Any]]:
        """One namespace."""
        return Call(plain, at={"name": name}, query=query)

    @operation("GET", "/search")
    def search(self, q: str, **query: Any) -> Call[dict[str, Any]]:
        """Datasets and jobs by a part of their names: `filter`, `limit`, `namespace`, `sort`."""
        return Call(plain, query={"q": q, **query})

    @operation("GET", "/tags")
    def tags(self, **query: Any) -> Call[dict[str, Any]]:
        """Tags: `limit`, `offset`."""
        return Call(plain, query=query)
