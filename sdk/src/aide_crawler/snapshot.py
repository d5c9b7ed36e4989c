"""What a crawl saw: documents of datasets in the neutral shape, and how much of the source they cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aide_crawler.errors import ScopeInvalid, SnapshotInvalid
from aide_crawler.scope import Scope

SNAPSHOT_VERSION = 1
_STATUSES = ("listed", "failed")


@dataclass(frozen=True)
class SchemaCoverage:
    """One schema of the scope: listed completely, or failed and why."""

    name: str
    status: str = "listed"
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {"name": self.name, "status": self.status}
        if self.reason is not None:
            document["reason"] = self.reason
        return document


@dataclass(frozen=True)
class ObjectCoverage:
    """One object that was left out, and why."""

    schema: str
    name: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"schema": self.schema, "name": self.name, "reason": self.reason}


@dataclass(frozen=True)
class Coverage:
    """What was listed, read, skipped and failed; schemas outside of the scope are not in it.

    `all_schemas` tells that the source shows every schema it has, so that one which is in the scope
    and not in `schemas` is certainly gone.
    """

    schemas: tuple[SchemaCoverage, ...] = ()
    listed: int = 0
    read: int = 0
    skipped: tuple[ObjectCoverage, ...] = ()
    failed: tuple[ObjectCoverage, ...] = ()
    all_schemas: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing failed."""
        return not self.failed and all(schema.status == "listed" for schema in self.schemas)

    def to_dict(self) -> dict[str, Any]:
        return {
            "schemas": [schema.to_dict() for schema in self.schemas],
            "listed": self.listed,
            "read": self.read,
            "skipped": [item.to_dict() for item in self.skipped],
            "failed": [item.to_dict() for item in self.failed],
            "all_schemas": self.all_schemas,
        }

    def shows_schema(self, name: str) -> bool:
        """Whether what is missing of the schema is certainly gone, the schema as a whole included."""
        status = next((schema.status for schema in self.schemas if schema.name == name), None)
        return status == "listed" or (status is None and self.all_schemas)

    @classmethod
    def from_dict(cls, document: Any) -> Coverage:
        """The coverage of a snapshot's JSON; raises SnapshotInvalid."""
        document = _object(document, "coverage")
        return cls(
            schemas=tuple(
                _schema_coverage(item, f"coverage.schemas[{index}]")
                for index, item in enumerate(_list(document, "schemas", "coverage"))
            ),
            listed=_count(document, "listed"),
            read=_count(document, "read"),
            skipped=_objects(document, "skipped"),
            failed=_objects(document, "failed"),
            all_schemas=document.get("all_schemas") is True,
        )


@dataclass(frozen=True)
class Snapshot:
    """One look at a source: its dialect and database, the scope, the documents and the coverage."""

    dialect: str
    database: str | None
    scope: Scope = field(default_factory=Scope)
    datasets: tuple[dict[str, Any], ...] = ()
    coverage: Coverage = field(default_factory=Coverage)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; the documents are not copied."""
        return {
            "snapshot_version": SNAPSHOT_VERSION,
            "dialect": self.dialect,
            "database": self.database,
            "scope": self.scope.to_dict(),
            "datasets": list(self.datasets),
            "coverage": self.coverage.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: Any) -> Snapshot:
        """Read a snapshot's JSON.

        Raises SnapshotInvalid with the place and a plain sentence. A dataset must be an object with
        the texts `schema` and `name`, no two alike, and a list `fields`; what a document holds
        beyond that is for its reader to check.
        """
        document = _object(document, "")
        version = document.get("snapshot_version")
        if version != SNAPSHOT_VERSION or isinstance(version, bool):
            raise SnapshotInvalid("snapshot_version", f"It must be {SNAPSHOT_VERSION}.")
        dialect = document.get("dialect")
        if not isinstance(dialect, str) or not dialect:
            raise SnapshotInvalid("dialect", "It must be the name of a SQLAlchemy dialect.")
        database = document.get("database")
        if database is not None and not isinstance(database, str):
            raise SnapshotInvalid("database", "It must be a text or null.")
        try:
            scope = Scope.from_dict(_object(document.get("scope") or {}, "scope"))
        except ScopeInvalid as error:
            raise SnapshotInvalid("scope", str(error)) from None
        datasets = _list(document, "datasets", "")
        seen: set[tuple[str, str]] = set()
        for index, dataset in enumerate(datasets):
            key = _dataset_key(dataset, f"datasets[{index}]")
            if key in seen:
                raise SnapshotInvalid(f"datasets[{index}]", f"The dataset {key[0]}.{key[1]} is there twice.")
            seen.add(key)
        if "coverage" not in document:
            raise SnapshotInvalid("coverage", "It is missing.")
        return cls(dialect, database, scope, tuple(datasets), Coverage.from_dict(document["coverage"]))


def _object(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SnapshotInvalid(path, "It must be an object.")
    return value


def _list(document: Mapping[str, Any], key: str, path: str) -> list[Any]:
    value = document.get(key)
    where = f"{path}.{key}" if path else key
    if not isinstance(value, list | tuple):
        raise SnapshotInvalid(where, "It must be a list.")
    return list(value)


def _text(document: Mapping[str, Any], key: str, path: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise SnapshotInvalid(f"{path}.{key}", "It must be a text.")
    return value


def _count(document: Mapping[str, Any], key: str) -> int:
    value = document.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SnapshotInvalid(f"coverage.{key}", "It must be a whole number, not below 0.")
    return value


def _schema_coverage(item: Any, path: str) -> SchemaCoverage:
    item = _object(item, path)
    status = _text(item, "status", path)
    if status not in _STATUSES:
        raise SnapshotInvalid(f"{path}.status", "It must be listed or failed.")
    reason = item.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise SnapshotInvalid(f"{path}.reason", "It must be a text.")
    return SchemaCoverage(_text(item, "name", path), status, reason)


def _objects(document: Mapping[str, Any], key: str) -> tuple[ObjectCoverage, ...]:
    found: list[ObjectCoverage] = []
    for index, raw in enumerate(_list({key: document.get(key) or []}, key, "coverage")):
        path = f"coverage.{key}[{index}]"
        item = _object(raw, path)
        found.append(
            ObjectCoverage(
                _text(item, "schema", path), _text(item, "name", path), _text(item, "reason", path)
            )
        )
    return tuple(found)


def _dataset_key(dataset: Any, path: str) -> tuple[str, str]:
    dataset = _object(dataset, path)
    if not isinstance(dataset.get("fields"), list):
        raise SnapshotInvalid(f"{path}.fields", "It must be a list.")
    return _text(dataset, "schema", path), _text(dataset, "name", path)
