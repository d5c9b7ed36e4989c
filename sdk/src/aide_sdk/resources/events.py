"""What happened: aiSSEMBLE events, OpenLineage events, the graph, and the way to Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from aide_sdk.calls import Call, Repeat, body_of, plain
from aide_sdk.models import (
    EventOutcome,
    Graph,
    LineageBatch,
    LineageEvent,
    MetadataEvent,
    Model,
    OutboxMessage,
    Page,
)
from aide_sdk.models.base import items_of, one, page_of
from aide_sdk.operations import Mode, Resource, listing, operation
from aide_sdk.resources.crud import Key, Many, Readable, Values, queried


class Metadata(Resource[Mode]):
    """`/metadata`: aiSSEMBLE events. The server knows an event again by its `event_id`."""

    path = "/metadata"

    @listing(by_cursor=True)
    def list(
        self, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[Page[MetadataEvent]]:
        """Every event that the filters let through, newest first:
        `list({"additionalValues.stage": "3"}, resource="orders", from_=datetime(2026, 3, 1, tzinfo=UTC))`."""
        return Call(page_of(MetadataEvent), query=queried(where, filters, size=size))

    @operation("GET")
    def page(
        self, page: int = 1, where: Mapping[str, Any] | None = None, /, *, size: int = 50, **filters: Any
    ) -> Call[Page[MetadataEvent]]:
        """One page, with the total."""
        return Call(page_of(MetadataEvent), query=queried(where, filters, page=page, size=size))

    @operation("GET", "/{key}")
    def get(self, key: Key) -> Call[MetadataEvent]:
        """One event by its id."""
        return Call(one(MetadataEvent), at={"key": key})

    @operation("POST", repeat=Repeat.KEYED)
    def create(
        self, values: Values = None, /, *, idempotency_key: str | None = None, **more: Any
    ) -> Call[MetadataEvent]:
        """Store one event: `{resource, subject, action, timestamp, additionalValues, event_id?}`. Without an
        `event_id` it gets one here, so that a repetition is no second event."""
        return Call(one(MetadataEvent), json=identified(body_of(values, more)), key=idempotency_key)

    @operation("POST", repeat=Repeat.KEYED)
    def create_many(
        self, items: Iterable[Mapping[str, Any] | Model], /, *, idempotency_key: str | None = None
    ) -> Call[Many[EventOutcome]]:
        """Store many; what became of each, in the same order."""
        body = [identified(body_of(item, {})) for item in items]
        return Call(items_of(EventOutcome), json=body, key=idempotency_key)


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
        level: Literal["dataset", "column"] | None = None,
        as_of: str | datetime | None = None,
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
        }
        return Call(one(Graph), query=query)

    @operation("GET")
    def marquez(self, node_id: str, *, depth: int | None = None) -> Call[dict[str, Any]]:
        """The graph in Marquez's shape, by its node id (`dataset:namespace:name`)."""
        return Call(plain, query={"nodeId": node_id, "depth": depth})


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

    @operation("GET", "/{key}")
    def get(self, key: Key) -> Call[LineageEvent]:
        """One event by its id."""
        return Call(one(LineageEvent), at={"key": key})


class Outbox(Readable[OutboxMessage, Mode]):
    """`/outbox`: messages to Kafka."""

    path = "/outbox"
    model = OutboxMessage

    @operation("POST", "/replay")
    def replay(self, ids: Iterable[int]) -> Call[dict[str, Any]]:
        """Send dead messages again."""
        return Call(plain, json={"ids": [*ids]})


def identified(event: dict[str, Any]) -> dict[str, Any]:
    """The event with an `event_id`."""
    return event if event.get("event_id") else {**event, "event_id": uuid.uuid4().hex}
