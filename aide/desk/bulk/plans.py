"""What a batch gives to each row, as plain values: the same plan is shown before, carried out and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

STALE = "changed since the file was made"


@dataclass(frozen=True)
class Plan:
    """What a row gets. None leaves a value as it is; `description` is written only where there is none.

    `own` are whole values that replace what the row holds, and `seen` what it must still hold for that.
    """

    owner: str | None = None
    description: str | None = None
    status: str | None = None
    add_words: tuple[str, ...] = ()
    remove_words: tuple[str, ...] = ()
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    own: Mapping[str, Any] = field(default_factory=dict)
    seen: str = ""

    @property
    def is_empty(self) -> bool:
        return self == Plan(seen=self.seen)

    def as_json(self) -> dict[str, Any]:
        """Without what it leaves alone."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), {}, "")} | (
            {"owner": ""} if self.owner == "" else {}
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        known = {each.name for each in fields(cls)}
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.items()
            if name in known
        }
        return cls(**kept)

    def values(self, row: Any) -> dict[str, Any]:
        """The human-owned values that the row should hold afterwards."""
        wanted = dict(self.own)
        if self.owner is not None:
            wanted["owner"] = self.owner
        if self.status is not None:
            wanted["status"] = self.status
        if self.description and not row.description:
            wanted["description"] = self.description
        if self.add_words or self.remove_words:
            wanted["tags"] = changed_words(row.tags, add=self.add_words, remove=self.remove_words)
        return wanted

    def is_stale(self, row: Any) -> bool:
        """Whether the row holds something else than the file's author saw."""
        return bool(self.seen) and self.seen != mark_of(row)


def changed_words(words: Iterable[str], *, add: Iterable[str], remove: Iterable[str]) -> list[str]:
    """The words without those to remove and with those to add, each once, in their order."""
    gone = set(remove)
    return list(dict.fromkeys([*(word for word in words if word not in gone), *add]))


def mark_of(row: Any) -> str:
    """A short mark of what people wrote about a row; it changes with each of these values."""
    said = json.dumps([row.description, row.owner, list(row.tags)], ensure_ascii=False)
    return f"v-{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
