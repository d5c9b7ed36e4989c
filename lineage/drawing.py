"""Edges that people draw and take away, each with a reason. No event ever changes one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.accounts.roles import Capability
from aide.audit.entries import Entry, record
from aide.core.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from lineage.asking import namespace_of
from lineage.merging.columns import columns_of
from lineage.merging.nodes import Seen, key_of, nodes_of
from lineage.merging.statements import lock_graph
from lineage.models import ColumnEdge, Edge, Job, Node
from lineage.models.graph import DRAWN_BY_HAND
from lineage.openlineage import DatasetName
from registry.models import Dataset


@dataclass(frozen=True)
class End:
    """One end of an edge: a dataset of the registry, or a name that events use."""

    dataset_id: int | None = None
    namespace: str = ""
    name: str = ""


@transaction.atomic
def draw(
    source: End,
    target: End,
    *,
    by: Any,
    reason: str,
    source_field: str = "",
    target_field: str = "",
    at: datetime | None = None,
) -> Edge | ColumnEdge:
    """Says by hand that `target` is made from `source`; with both fields, that a column is."""
    if not reason.strip():
        raise _wrong("reason", "required", "Say why you draw this.")
    if bool(source_field) != bool(target_field):
        raise _wrong("target_field", "invalid", "Name the field of both ends or of neither.")
    lock_graph()
    now = at or timezone.now()
    ends = [_node(end, word, now=now, by=by) for end, word in ((source, "source"), (target, "target"))]
    if ends[0].pk == ends[1].pk and source_field == target_field:
        raise _wrong("target", "same", "Nothing is made from itself.")
    job = _job(now)
    found: Edge | ColumnEdge | None = None
    if ends[0].pk != ends[1].pk:
        found = _drawn(
            Edge, ends[0].pk, ends[1].pk, job, by=by, reason=reason, now=now, again=not source_field
        )
    if source_field:
        places = [(ends[0].pk, source_field), (ends[1].pk, target_field)]
        columns = columns_of(places, {node.pk: node.dataset_id for node in ends if node.dataset_id})
        found = _drawn(
            ColumnEdge, columns[places[0]], columns[places[1]], job, by=by, reason=reason, now=now, again=True
        )
    assert found is not None
    _record("lineage.draw", ends, found, by=by, reason=reason, fields=(source_field, target_field))
    return found


@transaction.atomic
def end(edge_id: int, *, level: str, by: Any, reason: str) -> None:
    """Takes an edge out of the present; what it was, and until when, stays. An event may tell of it again."""
    if not reason.strip():
        raise _wrong("reason", "required", "Say why you take this away.")
    lock_graph()
    model: Any = ColumnEdge if level == "column" else Edge
    row = model.objects.select_related("source", "target").filter(pk=edge_id).first()
    if row is None:
        raise NotFound("EDGE_NOT_FOUND", "There is no such edge.")
    if row.ended_at is not None:
        raise Conflict("EDGE_ENDED", "This edge has already ended.")
    nodes = [row.source, row.target] if level != "column" else [row.source.node, row.target.node]
    for node in nodes:
        _refuse_unless(by, node)
    row.ended_at = max(timezone.now(), row.last_seen)
    row.reason = reason[:500]
    row.save(update_fields=["ended_at", "reason"])
    _record("lineage.end", nodes, row, by=by, reason=reason)


def _node(one: End, word: str, *, now: datetime, by: Any) -> Node:
    if one.dataset_id is not None:
        dataset = Dataset.objects.alive().select_related("system").filter(pk=one.dataset_id).first()
        if dataset is None:
            raise _wrong(f"{word}_id", "unknown", "There is no such dataset.")
        node = Node.objects.filter(dataset=dataset).first()
        if node is None:
            node = Node.objects.create(
                dataset=dataset,
                namespace=namespace_of(dataset),
                name=dataset.name,
                first_seen=now,
                last_seen=now,
            )
    elif one.namespace and one.name:
        name = DatasetName(one.namespace, one.name)
        node = Node.objects.get(pk=nodes_of({name: Seen(now, now)})[name].pk)
    else:
        raise _wrong(word, "required", "Name a dataset_id, or a namespace and a name.")
    _refuse_unless(by, node)
    return node


def _refuse_unless(by: Any, node: Node) -> None:
    system = node.dataset.system if node.dataset is not None else None
    if not by.can(Capability.EDIT_LINEAGE, system):
        raise Forbidden("FORBIDDEN", by.why_not(Capability.EDIT_LINEAGE, system))


def _job(now: datetime) -> Job:
    namespace, name = DRAWN_BY_HAND
    row, _ = Job.objects.get_or_create(
        key=key_of(namespace, name),
        defaults={"namespace": namespace, "name": name, "first_seen": now, "last_seen": now},
    )
    return row


def _drawn(
    model: Any, source: int, target: int, job: Job, *, by: Any, reason: str, now: datetime, again: bool
) -> Any:
    """The edge by hand between two ends: made, or brought back; `again`: one that is there already is an error."""
    row = model.objects.filter(source_id=source, target_id=target, job=job).first()
    if row is None:
        return model.objects.create(
            source_id=source, target_id=target, job=job, origin=model.Origin.MANUAL, first_seen=now,
            last_seen=now, drawn_by=by, reason=reason[:500],
        )  # fmt: skip
    if row.ended_at is None and again:
        raise Conflict("EDGE_ALREADY_EXISTS", "This edge is drawn already.")
    row.ended_at, row.last_seen, row.drawn_by, row.reason = None, max(now, row.last_seen), by, reason[:500]
    row.save(update_fields=["ended_at", "last_seen", "drawn_by", "reason"])
    return row


def _record(
    action: str, nodes: list[Node], row: Any, *, by: Any, reason: str, fields: tuple[str, str] = ("", "")
) -> None:
    words = [f"{node}{f'.{path}' if path else ''}" for node, path in zip(nodes, fields, strict=True)]
    dataset = next((node.dataset for node in reversed(nodes) if node.dataset is not None), None)
    record(
        Entry(
            action,
            "lineage_edge",
            row.pk,
            " → ".join(words),
            system_code=dataset.system.code if dataset is not None else "",
            dataset_id=dataset.pk if dataset is not None else None,
            reason=reason[:500],
        ),
        by=by,
    )


def _wrong(name: str, code: str, sentence: str) -> Invalid:
    return Invalid(detail=sentence, errors=[FieldError(name, code, sentence)])
