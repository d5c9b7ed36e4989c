"""The service for development: metadata goes to the log, and can be searched while the process lives."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from aissemble_core_metadata.log_manager import LogManager
from aissemble_core_metadata.metadata_api import MetadataAPI
from aissemble_core_metadata.metadata_model import MetadataModel
from aissemble_core_metadata.search import read_search

KEPT = 10_000
"""How many events a process remembers; older ones are only in the log."""


class LoggingMetadataAPIService(MetadataAPI):
    """Logs metadata. Meant for development and tests: nothing outlives the process but the log."""

    logger = LogManager.get_instance().get_logger("LoggingMetadataAPIService")

    _logged: ClassVar[deque[MetadataModel]] = deque(maxlen=KEPT)
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.logger.warning("Metadata is only logged. Use another service in production.")

    def create_metadata(self, metadata: MetadataModel) -> None:
        """Log one event."""
        if not metadata:
            self.logger.warning("There was no metadata to log.")
            return
        event = MetadataModel.model_validate(metadata.to_wire())
        with self._lock:
            self._logged.append(event)
        self.logger.info("%s", as_lines(event.to_wire()))

    def get_metadata(self, search_params: dict[str, Any]) -> list[MetadataModel]:
        """Those events that this process logged (the last 10,000) and that match, oldest first."""
        search = read_search(search_params)
        with self._lock:
            events = list(self._logged)
        return [each.model_copy(deep=True) for each in search.among(events)]


def as_lines(event: Mapping[str, Any]) -> str:
    """An event for people, on several lines."""
    when = datetime.fromtimestamp(event["timestamp"], UTC).isoformat()
    lines = [
        "Metadata:",
        f"Subject: {event['subject']}",
        f"Resource: {event['resource']}",
        f"Action: {event['action']}",
        f"Timestamp: {when}",
        "Additional values:",
        *(f"\t{key}: {value}" for key, value in event["additionalValues"].items()),
    ]
    return "\n".join(lines)
