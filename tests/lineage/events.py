"""OpenLineage events for tests, made by plain functions; each takes what matters and fills in the rest."""

from __future__ import annotations

import json
import uuid
from typing import Any

from lineage import merging
from lineage.merging import Incoming, Receipt

PRODUCER = "https://example.com/pipelines"
SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
PG = "postgres://db1.example.com:5432"


def facet(**values: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": "https://example.com/facet.json", **values}


def dataset(name: str, namespace: str = PG, **facets: Any) -> dict[str, Any]:
    """A dataset of an event; facets are given by their names."""
    found: dict[str, Any] = {"namespace": namespace, "name": name}
    if facets:
        found["facets"] = {key: facet(**value) for key, value in facets.items()}
    return found


def run_event(
    kind: str | None = "COMPLETE",
    *,
    run: str | int = 1,
    at: str = "2026-03-01T10:00:00Z",
    job: str = "nightly",
    reads: list[Any] | None = None,
    writes: list[Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A run event; datasets may be given by their names."""
    run_id = str(uuid.UUID(int=run)) if isinstance(run, int) else run
    event: dict[str, Any] = {
        "eventTime": at,
        "producer": PRODUCER,
        "schemaURL": SPEC,
        "run": {"runId": run_id},
        "job": {"namespace": "jobs", "name": job},
        "inputs": [dataset(one) if isinstance(one, str) else one for one in reads or []],
        "outputs": [dataset(one) if isinstance(one, str) else one for one in writes or []],
    }
    if kind is not None:
        event["eventType"] = kind
    return event | more


def columns(**fields: list[tuple[str, str]]) -> dict[str, Any]:
    """A columnLineage facet: each field from (dataset, field) pairs."""
    return {
        "fields": {
            field: {
                "inputFields": [{"namespace": PG, "name": name, "field": source} for name, source in sources]
            }
            for field, sources in fields.items()
        }
    }


def send(*events: Any) -> list[Receipt]:
    """What receiving these events answers."""
    return merging.receive([Incoming(event, json.dumps(event)) for event in events])
