"""What every metadata service can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from aissemble_core_metadata.metadata_model import MetadataModel


class MetadataAPI(ABC):
    """A service that takes and finds metadata."""

    @abstractmethod
    def create_metadata(self, metadata: MetadataModel) -> None:
        """Take one event."""

    @abstractmethod
    def get_metadata(self, search_params: dict[str, Any]) -> list[MetadataModel]:
        """The events that match every parameter, oldest first.

        `resource`, `subject`, `action`, `timestamp`: equal. `from`, `to`: the time range, both included.
        `additionalValues.<key>`, or `additionalValues` with a mapping: that value is equal. ValueError for
        any other parameter.
        """
