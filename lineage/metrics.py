"""What Prometheus is told about the outbox and the topics: from indexes, and from what was seen last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import DatabaseError
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from aide.core.metrics import REGISTRY
from lineage import outbox, topics


class _Collector(Collector):
    """Gauges of the outbox, and of topics once they were looked at."""

    def describe(self) -> Iterable[Any]:
        return ()

    def collect(self) -> Iterable[Any]:
        yield from _of_outbox()
        yield from _of_topics()


def _of_outbox() -> Iterable[Any]:
    try:
        oldest, relays = outbox.oldest_waiting(), outbox.relays_alive()
    except DatabaseError:
        return
    age = (timezone.now() - oldest).total_seconds() if oldest else 0.0
    yield GaugeMetricFamily("aide_outbox_oldest_seconds", "Age of the oldest unsent message.", value=age)
    yield GaugeMetricFamily("aide_outbox_relays", "Relays that hold a share of the keys.", value=relays)


def _of_topics() -> Iterable[Any]:
    seen = topics.known()
    if seen is None:
        return
    yield GaugeMetricFamily("aide_kafka_up", "Whether a broker answered lately.", value=int(seen.is_up))
    yield GaugeMetricFamily("aide_kafka_seen_seconds", "Since the broker was asked.", value=seen.age_seconds)
    up = GaugeMetricFamily("aide_kafka_topic_up", "Whether a topic is there.", labels=["topic"])
    for topic, is_up in seen.up.items():
        up.add_metric([topic], int(is_up))
    yield up
    lag = GaugeMetricFamily("aide_kafka_consumer_lag", "Unread messages.", labels=["group", "topic"])
    for (group, topic), count in seen.lag.items():
        lag.add_metric([group, topic], count)
    yield lag


REGISTRY.register(_Collector())
