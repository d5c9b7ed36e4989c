"""What pipelines told: aiSSEMBLE events, what they must hold, and the way to Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from aide_sdk.calls import Call, Repeat, body_of, given, plain
from aide_sdk.models import (
    EventOutcome,
    EventSchema,
    MetadataEvent,
    Model,
    OutboxMessage,
    Page,
    Quality,
    Sessions,
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

    @operation("GET", "/sessions/{resource}")
    def sessions(
        self,
        resource: str,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        size: int | None = None,
    ) -> Call[Sessions]:
        """The runs of a resource, newest first, each with its events in order."""
        query = {"from": from_, "to": to, "size": size}
        return Call(one(Sessions), at={"resource": resource}, query=query)

    @operation("GET", "/quality")
    def quality(
        self,
        *,
        subject: str | None = None,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
    ) -> Call[Quality]:
        """How well subjects tell what they do: missing keys, odd names, actions without an end."""
        return Call(one(Quality), query={"subject": subject, "from": from_, "to": to})

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


class MetadataSchemas(Readable[EventSchema, Mode]):
    """`/metadata/schemas`: what events of a kind must hold, in versions."""

    path = "/metadata/schemas"
    model = EventSchema

    @operation("POST")
    def create(
        self,
        name: str,
        schema: Mapping[str, Any],
        *,
        subject: str | None = None,
        action: str | None = None,
        note: str | None = None,
    ) -> Call[EventSchema]:
        """A new version: JSON Schema 2020-12 for whole events of a subject and action."""
        more = given(subject=subject, action=action, note=note)
        return Call(one(EventSchema), json={"name": name, "schema": schema, **more})

    @operation("PATCH", "/{key}")
    def update(
        self, key: int, *, is_active: bool | None = None, note: str | None = None
    ) -> Call[EventSchema]:
        """Turn a version off or on; its content never changes."""
        return Call(one(EventSchema), at={"key": key}, json=given(is_active=is_active, note=note))


class Outbox(Readable[OutboxMessage, Mode]):
    """`/outbox`: messages to Kafka."""

    path = "/outbox"
    model = OutboxMessage

    @operation("POST", "/replay")
    def replay(self, ids: Iterable[int]) -> Call[dict[str, Any]]:
        """Send dead messages again: `{"replayed": [ids], "skipped": [ids], "count"}`."""
        return Call(plain, json={"ids": [*ids]})


def identified(event: dict[str, Any]) -> dict[str, Any]:
    """The event with an `event_id`."""
    return event if event.get("event_id") else {**event, "event_id": uuid.uuid4().hex}
