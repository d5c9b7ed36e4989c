"""The parameters of `get_metadata`, understood once for every service. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aissemble_core_metadata.metadata_model import MetadataModel, as_text
from aissemble_core_metadata.moments import seconds

_TEXTS = ("resource", "subject", "action")
_VALUES = "additionalValues"


@dataclass(frozen=True)
class Search:
    """What is looked for: equal texts, a time range (seconds, both included), equal additional values."""

    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    since: float | None = None
    until: float | None = None

    def matches(self, event: MetadataModel) -> bool:
        if any(getattr(event, name) != text for name, text in self.texts.items()):
            return False
        if self.since is not None and event.timestamp < self.since:
            return False
        if self.until is not None and event.timestamp > self.until:
            return False
        return all(event.additionalValues.get(key) == text for key, text in self.values.items())

    def among(self, events: Iterable[MetadataModel]) -> list[MetadataModel]:
        """Those that match, oldest first."""
        return sorted((each for each in events if self.matches(each)), key=lambda each: each.timestamp)

    def as_query(self) -> dict[str, str]:
        """The same as parameters of the server's `GET /metadata`."""
        query = {**self.texts, **{f"{_VALUES}.{key}": text for key, text in self.values.items()}}
        if self.since is not None:
            query["from"] = datetime.fromtimestamp(self.since, UTC).isoformat()
        if self.until is not None:
            query["to"] = datetime.fromtimestamp(self.until, UTC).isoformat()
        return query


def read_search(params: Mapping[str, Any] | None) -> Search:
    """Understand search parameters. Raises ValueError for an unknown one."""
    texts: dict[str, str] = {}
    values: dict[str, str] = {}
    since: float | None = None
    until: float | None = None
    for name, value in (params or {}).items():
        if name in _TEXTS:
            texts[name] = as_text(value)
        elif name == _VALUES and isinstance(value, Mapping):
            values |= {str(key): as_text(each) for key, each in value.items()}
        elif name.startswith(f"{_VALUES}."):
            values[name.removeprefix(f"{_VALUES}.")] = as_text(value)
        elif name == "timestamp":
            since = until = seconds(value)
        elif name == "from":
            since = seconds(value)
        elif name == "to":
            until = seconds(value)
        else:
            raise ValueError(f"Metadata cannot be searched by {name!r}.")
    return Search(texts, values, since, until)
