"""The doors of events, lineage and the outbox; api_rules.py says how to read them."""

from __future__ import annotations

from types import SimpleNamespace

from tests.lineage.events import run_event
from tests.security.cases import Case, case
from tests.security.matrix import CURATE, DECIDE, DRAW, RETRY, SEE, SEND, anywhere, of_system

SEEN = anywhere(SEE)

LINEAGE_RULES: dict[str, tuple[Case, ...]] = {
    # Events, and what waits to be sent.
    "GET metadata": case(SEEN),
    "POST metadata": (
        *case(anywhere(SEND), body=lambda w: {"resource": "r", "action": "READ"}),
        *case(anywhere(SEND), body=lambda w: [{"resource": "r"}, {"resource": "s"}], name="several"),
    ),
    "GET metadata/{pk}": case(SEEN, lambda w: w.event),
    "GET metadata/quality": case(SEEN, query="?subject=load"),
    "GET metadata/sessions/{resource}": case(SEEN),
    "GET metadata/schemas": case(SEEN),
    "POST metadata/schemas": case(anywhere(CURATE), body=lambda w: {"name": "new", "schema": {}}),
    "GET metadata/schemas/{pk}": case(SEEN, lambda w: w.event_schema),
    "PATCH metadata/schemas/{pk}": case(
        anywhere(CURATE), lambda w: w.event_schema, lambda w: {"is_active": False}
    ),
    "GET outbox": case(SEEN),
    "GET outbox/{pk}": case(SEEN, lambda w: w.message),
    "POST outbox/replay": case(anywhere(RETRY), body=lambda w: {"ids": [w.dead_message.pk]}),
    # Lineage.
    "POST lineage": case(anywhere(SEND), body=lambda w: run_event()),
    "POST lineage/batch": case(anywhere(SEND), body=lambda w: [run_event()]),
    "GET lineage": case(of_system(SEE), query="?nodeId=job:jobs:nightly"),
    "GET lineage/graph": case(of_system(SEE), lambda w: w.dataset, query="?dataset_id={pk}"),
    "GET lineage/events": case(SEEN),
    "GET lineage/runs": case(SEEN),
    "GET lineage/jobs": case(SEEN),
    "GET lineage/names": case(SEEN),
    "GET lineage/names/{pk}": case(of_system(SEE), lambda w: w.bound_name),
    "POST lineage/names/{pk}/bind": case(
        of_system(DECIDE, DRAW), lambda w: w.free_name, lambda w: {"dataset_id": w.dataset.pk}
    ),
    "POST lineage/names/{pk}/unbind": case(of_system(DECIDE, DRAW), lambda w: w.bound_name),
    "POST lineage/edges": case(
        anywhere(DRAW),
        body=lambda w: {
            "source": {"namespace": "legacy", "name": "a"},
            "target": {"namespace": "legacy", "name": "b"},
            "reason": "by hand",
        },
    ),
    "DELETE lineage/edges/{pk}": case(anywhere(DRAW), lambda w: w.edge, query="?reason=gone"),
    # What Marquez answers.
    "GET column-lineage": case(SEEN, query="?nodeId=dataset:legacy:free"),
    "GET namespaces": case(SEEN, query="?limit=500"),
    "GET namespaces/{pk}": case(of_system(SEE), lambda w: SimpleNamespace(pk="jobs/jobs/nightly")),
    "GET jobs": case(SEEN, query="?limit=500"),
    "GET search": case(SEEN, query="?q=night"),
    "GET events/lineage": case(SEEN, query="?limit=500"),
    "GET tags": case(SEEN, query="?limit=500"),
}
