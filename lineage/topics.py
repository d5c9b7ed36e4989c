"""How the topics are: whether they are there, and how far behind those who read them are.

`known()` gives what was last seen and has it looked at anew on a thread of its own, so that nobody who asks waits for
a broker.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import structlog
from django.conf import settings

log = structlog.get_logger(__name__)

METADATA_GROUP, LINEAGE_GROUP = "aide-metadata", "aide-lineage"
FRESH_SECONDS = 15.0


@dataclass(frozen=True)
class Topics:
    """What was last seen: which topics are there, and by (group, topic) how many messages are unread."""

    seen_at: float = 0.0
    is_up: bool = False
    up: dict[str, bool] = field(default_factory=dict)
    lag: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self.seen_at


_lock = threading.Lock()
_last = Topics()
_looking = threading.Event()


def known() -> Topics | None:
    """What was last seen, at most some seconds old once asked for regularly; None without a broker or at first."""
    if not settings.AIDE_KAFKA_SERVERS:
        return None
    if (not _last.seen_at or _last.age_seconds > FRESH_SECONDS) and not _looking.is_set():
        with _lock:
            if not _looking.is_set():
                _looking.set()
                threading.Thread(target=_look, name="kafka-topics", daemon=True).start()
    return _last if _last.seen_at else None


def sent_to() -> list[str]:
    """The topics that the outbox sends to."""
    return [
        settings.AIDE_KAFKA_METADATA_TOPIC,
        settings.AIDE_KAFKA_LINEAGE_TOPIC,
        settings.AIDE_KAFKA_CATALOG_TOPIC,
    ]


def read_by() -> dict[str, list[str]]:
    """The topics that our consumers read, by their group."""
    found = {
        METADATA_GROUP: settings.AIDE_KAFKA_CONSUME_METADATA,
        LINEAGE_GROUP: settings.AIDE_KAFKA_CONSUME_LINEAGE,
    }
    return {group: list(topics) for group, topics in found.items() if topics}


def look_now() -> Topics:
    """Ask the broker, for some seconds at most."""
    from lineage.kafka import KafkaError, look  # every process imports this module, few ever ask a broker

    wanted = list(dict.fromkeys([*sent_to(), *(topic for topics in read_by().values() for topic in topics)]))
    try:
        up, lag = look(wanted, read_by())
    except (KafkaError, OSError, ValueError) as error:
        log.info("topics.broker_away", error=type(error).__name__)
        return Topics(time.monotonic(), False, dict.fromkeys(wanted, False), {})
    return Topics(time.monotonic(), True, up, lag)


def _look() -> None:
    global _last
    try:
        _last = look_now()
    finally:
        _looking.clear()
