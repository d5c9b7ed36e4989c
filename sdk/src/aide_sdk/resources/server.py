"""The audit log, data contracts, and the server's own state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aide_sdk import models
from aide_sdk.calls import Call, plain, text
from aide_sdk.models import AuditEntry, AuditProof
from aide_sdk.models.base import one, page_of
from aide_sdk.operations import Mode, Resource, listing, operation
from aide_sdk.resources.crud import queried


class Audit(Resource[Mode]):
    """`/audit`: who did what to what."""

    path = "/audit"

    @listing(by_cursor=True)
    def list(
        self, where: Mapping[str, Any] | None = None, /, *, size: int = 200, **filters: Any
    ) -> Call[models.Page[AuditEntry]]:
        """Every entry that the filters let through, newest first: `list(system="shop", from_="2026-03-01")`."""
        return Call(page_of(AuditEntry), query=queried(where, filters, size=size))

    @operation("GET")
    def page(
        self, page: int = 1, where: Mapping[str, Any] | None = None, /, *, size: int = 50, **filters: Any
    ) -> Call[models.Page[AuditEntry]]:
        """One page, with the total."""
        return Call(page_of(AuditEntry), query=queried(where, filters, page=page, size=size))

    @operation("GET", "/{key}")
    def get(self, key: int) -> Call[AuditEntry]:
        """One entry."""
        return Call(one(AuditEntry), at={"key": key})

    @operation("GET", "/verify")
    def verify(self) -> Call[AuditProof]:
        """Whether the chain of hashes holds."""
        return Call(one(AuditProof))


class Contracts(Resource[Mode]):
    """`/contracts`: datasets as Open Data Contracts."""

    path = "/contracts"

    @operation("GET", "/{dataset_id}")
    def get(self, dataset_id: int) -> Call[dict[str, Any]]:
        """The contract as JSON values."""
        return Call(plain, at={"dataset_id": dataset_id})

    @operation("GET", "/{dataset_id}")
    def get_yaml(self, dataset_id: int) -> Call[str]:
        """The contract as YAML."""
        return Call(text, at={"dataset_id": dataset_id}, accept="application/yaml")

    @operation("POST")
    def create(self, document: Mapping[str, Any], /) -> Call[dict[str, Any]]:
        """Bring a contract; it becomes a proposal."""
        return Call(plain, json=document)


class Health(Resource[Mode]):
    """`/health` and `/metrics`, outside of the API."""

    @operation("GET", "//health/live", is_open=True)
    def live(self) -> Call[models.Health]:
        """That the process is up."""
        return Call(one(models.Health))

    @operation("GET", "//health/ready", is_open=True)
    def ready(self) -> Call[models.Health]:
        """The state of each part; `status` is `unavailable` when it cannot serve."""
        return Call(one(models.Health), also=frozenset({503}))

    @operation("GET", "//metrics")
    def metrics(self) -> Call[str]:
        """Prometheus' text."""
        return Call(text, accept="text/plain")
