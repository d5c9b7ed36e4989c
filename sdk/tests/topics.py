"""Reading a topic to its end."""

from __future__ import annotations

import json
from typing import Any

from kafka import KafkaConsumer

from tests.waiting import wait_until


def read_topic(servers: str, topic: str, *, count: int, timeout: float = 20.0) -> list[Any]:
    """At least `count` messages of a topic (`.key`, `.value`, `.headers`), in the order of arrival."""
    consumer = KafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest")
    found: list[Any] = []

    def is_complete() -> bool:
        for messages in consumer.poll(timeout_ms=200).values():
            found.extend(messages)
        return len(found) >= count

    try:
        wait_until(is_complete, timeout=timeout, every=0)
    finally:
        consumer.close()
    return found


def events(messages: list[Any]) -> list[dict[str, Any]]:
    return [json.loads(message.value) for message in messages]


def event_ids(messages: list[Any]) -> list[str]:
    return [dict(message.headers)["aide-event-id"].decode() for message in messages]
