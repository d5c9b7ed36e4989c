"""Datasets, their fields and versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aide_sdk.calls import Call, Repeat, plain
from aide_sdk.models import (
    CastPlan,
    Check,
    Dataset,
    DatasetSchema,
    FieldBinding,
    FieldRow,
    Page,
    SchemaDiff,
    TypeInstance,
)
from aide_sdk.models.base import one, page_of
from aide_sdk.operations import Mode, listing, operation
from aide_sdk.resources.crud import Editable, Restorable, queried


class Datasets(Restorable[Dataset, Mode]):
    """`/datasets`"""

    path = "/datasets"
    model = Dataset

    @operation("GET", "/{key}/schema")
    def schema(
        self, key: int, *, version: int | None = None, as_of: str | datetime | None = None
    ) -> Call[dict[str, Any]]:
        """The document of the version in force, of a numbered one, or of the one in force at a moment:
        `{"schema", "name", "kind", "fields": [{"name", "native_type", …}], …, "version", "fingerprint"}`."""
        return Call(plain, at={"key": key}, query={"version": version, "as_of": as_of})

    @operation("GET", "/{key}/diff")
    def diff(
        self,
        key: int,
        *,
        from_: int | None = None,
        to: int | None = None,
        since: str | datetime | None = None,
    ) -> Call[SchemaDiff]:
        """The net difference between two versions, or of all since a moment."""
        return Call(one(SchemaDiff), at={"key": key}, query={"from": from_, "to": to, "since": since})

    @operation("POST", "/{key}/check", repeat=Repeat.SAFE)
    def check(self, key: int, document: Mapping[str, Any]) -> Call[Check]:
        """What a change to this document would mean, and to whom. Nothing is written."""
        return Call(one(Check), at={"key": key}, json={"document": document})

    @operation("GET", "/{key}/cast-plan")
    def cast_plan(self, key: int, *, to: str) -> Call[CastPlan]:
        """The current version for another flavor, with the statement that makes it."""
        return Call(one(CastPlan), at={"key": key}, query={"to": to})


class Fields(Editable[FieldRow, Mode]):
    """`/fields`: only what people own can be written."""

    path = "/fields"
    model = FieldRow

    @operation("GET", "/tree/{dataset_id}")
    def tree(self, dataset_id: int) -> Call[dict[str, Any]]:
        """The fields of a dataset, nested."""
        return Call(plain, at={"dataset_id": dataset_id})

    @listing("/{key}/children")
    def children(
        self, key: int, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[Page[FieldRow]]:
        """The fields inside a field."""
        return Call(page_of(FieldRow), at={"key": key}, query=queried(where, filters, size=size))


class DatasetSchemas(Editable[DatasetSchema, Mode]):
    """`/dataset-schemas`: versions. `create(dataset_id=…, document=…)` publishes at once."""

    path = "/dataset-schemas"
    model = DatasetSchema

    @operation("POST", "/{key}/publish")
    def publish(self, key: int) -> Call[DatasetSchema]:
        """Freeze a draft. Content equal to the current version answers that one."""
        return Call(one(DatasetSchema), at={"key": key})


class FieldBindings(Editable[FieldBinding, Mode]):
    """`/field-bindings`: fields in a draft version."""

    path = "/field-bindings"
    model = FieldBinding


class TypeInstances(Editable[TypeInstance, Mode]):
    """`/type-instances`: they never change; an equal one is answered instead of made."""

    path = "/type-instances"
    model = TypeInstance

    @operation("GET", "/{key}/tree")
    def tree(self, key: int) -> Call[dict[str, Any]]:
        """The type with the types inside it."""
        return Call(plain, at={"key": key})
