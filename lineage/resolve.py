"""Names that become known later, and what stewards bind: alone changes what a node or a column is in the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Q

from aide.accounts.roles import Capability
from aide.audit.entries import Entry, record
from aide.core.errors import Conflict, Forbidden, NotFound
from aide.work.queue import enqueue
from lineage.matching import UNRESOLVED, Directory, match
from lineage.merging.columns import fields_of
from lineage.merging.nodes import mark_linked, node_named
from lineage.merging.statements import lock_graph
from lineage.merging.uniting import unite, unite_columns
from lineage.models import Node, NodeColumn, NodeName
from lineage.openlineage import DatasetName
from registry.models import Dataset

TASK = "lineage.resolve_again"
PAGE = 500


def resolve_soon() -> None:
    """Queue a new look at the names, once, after the caller's transaction."""
    transaction.on_commit(lambda: enqueue(TASK, key=TASK), robust=True)


def resolve_again() -> int:
    """Look up every name that is not known yet, and the columns of those that are. How many names became known."""
    directory = Directory()
    done = 0
    after = 0
    while True:
        with transaction.atomic():
            lock_graph()
            rows = list(
                NodeName.objects.filter(matched__in=(UNRESOLVED, NodeName.Matched.SYMLINK), pk__gt=after)
                .filter(Q(matched=UNRESOLVED) | Q(bound_by__isnull=True))
                .order_by("pk")[:PAGE]
            )
            if rows:
                after = rows[-1].pk
                done += _resolve(rows, directory)
        if not rows:
            break
    bind_columns()
    return done


def _resolve(rows: list[NodeName], directory: Directory) -> int:
    names = {row.pk: DatasetName(row.namespace, row.name) for row in rows}
    found = match(names.values(), directory=directory)
    done = 0
    for row in rows:
        told = found[names[row.pk]]
        if told.dataset_id is None:
            if row.matched == UNRESOLVED and row.why != told.why:
                NodeName.objects.filter(pk=row.pk).update(why=told.why)
            continue
        node = Node.objects.filter(names=row.pk).first()
        if node is None or (node.dataset_id is not None and node.dataset_id != told.dataset_id):
            continue
        NodeName.objects.filter(pk=row.pk).update(matched=told.matched, why=told.why)
        _give(node, told.dataset_id)
        done += 1
    return done


def _give(node: Node, dataset_id: int) -> Node:
    """The node is that dataset from now on; a node that was it already takes this one in."""
    if node.dataset_id == dataset_id:
        return node
    there = Node.objects.filter(dataset_id=dataset_id).first()
    if there is None:
        node.dataset_id = dataset_id
        node.save(update_fields=["dataset"])
        mark_linked([node.pk])
        return node
    unite(there, node)
    return there


def bind_columns(node_ids: Iterable[int] | None = None) -> int:
    """Give columns their lasting fields; two columns of one field become one. How many columns were given one."""
    done = after = 0
    while True:
        with transaction.atomic():
            lock_graph()
            rows = NodeColumn.objects.filter(
                field__isnull=True, node__dataset__isnull=False, pk__gt=after
            ).exclude(path="*")
            if node_ids is not None:
                rows = rows.filter(node_id__in=list(node_ids))
            listed = list(rows.select_related("node").order_by("pk")[:PAGE])
            if not listed:
                return done
            after = listed[-1].pk
            datasets = {row.node_id: row.node.dataset_id for row in listed if row.node.dataset_id}
            fields = fields_of([(row.node_id, row.path) for row in listed], datasets)
            for row in listed:
                field_id = fields.get((row.node_id, row.path))
                if field_id is None:
                    continue
                done += 1
                there = NodeColumn.objects.filter(node_id=row.node_id, field_id=field_id).first()
                if there is not None:
                    unite_columns(there, row)
                else:
                    NodeColumn.objects.filter(pk=row.pk).update(field_id=field_id)


@transaction.atomic
def bind(name_id: int, *, dataset_id: int, by: Any) -> NodeName:
    """A steward says which dataset a name means; everything that events said under it goes there too."""
    lock_graph()
    row = _name(name_id)
    dataset = Dataset.objects.alive().select_related("system").filter(pk=dataset_id).first()
    if dataset is None:
        raise NotFound("DATASET_NOT_FOUND", "There is no such dataset.")
    _refuse_unless(by, dataset)
    node = row.node
    if node.dataset_id == dataset.pk:
        if row.matched != NodeName.Matched.ALIAS:
            _write_alias(row, by)
        return _name(name_id)
    if node.dataset_id is not None:
        if row.matched in (NodeName.Matched.EXACT, NodeName.Matched.NORMALISED):
            raise Conflict("NAME_IS_KNOWN", "The registry knows this name; it cannot mean another dataset.")
        node = _apart(row)
    _write_alias(row, by)
    node = _give(node, dataset.pk)
    mark_linked([node.pk])
    _record("lineage.bind", row, dataset, by=by)
    transaction.on_commit(lambda: bind_columns([node.pk]))
    return _name(name_id)


@transaction.atomic
def unbind(name_id: int, *, by: Any) -> NodeName:
    """Takes a steward's word back. What the name told until now stays with the dataset if it has other names."""
    lock_graph()
    row = _name(name_id)
    if row.matched != NodeName.Matched.ALIAS:
        raise Conflict("NAME_NOT_BOUND", "Nobody bound this name.")
    dataset = row.node.dataset
    if dataset is not None:
        _refuse_unless(by, dataset)
    node = _apart(row)
    told = match([DatasetName(row.namespace, row.name)])[DatasetName(row.namespace, row.name)]
    NodeName.objects.filter(pk=row.pk).update(matched=told.matched, why=told.why, bound_by=None)
    if told.dataset_id is not None:
        _give(node, told.dataset_id)
    _record("lineage.unbind", row, dataset, by=by)
    return _name(name_id)


def _apart(row: NodeName) -> Node:
    """A node of its own for the name: the present one without its dataset, if no other name is there."""
    node = row.node
    others = node.names.exclude(pk=row.pk).exclude(canonical=row.canonical)
    if not others.exists():
        Node.objects.filter(pk=node.pk).update(dataset=None)
        NodeColumn.objects.filter(node=node).update(field=None)
        node.dataset_id = None
        return node
    fresh = Node.objects.create(
        namespace=row.namespace, name=row.name, first_seen=node.first_seen, last_seen=node.last_seen
    )
    node.names.filter(canonical=row.canonical).update(node=fresh)
    return fresh


def _write_alias(row: NodeName, by: Any) -> None:
    NodeName.objects.filter(pk=row.pk).update(
        matched=NodeName.Matched.ALIAS, bound_by=by, why="Bound by hand."
    )


def _name(name_id: int) -> NodeName:
    rows = NodeName.objects.select_related("node__dataset__system", "bound_by")
    row = rows.filter(pk=name_id).first()
    if row is None:
        raise NotFound("NODE_NAME_NOT_FOUND", "There is no such name.")
    return row


def _refuse_unless(by: Any, dataset: Dataset) -> None:
    """Engineers for everything, stewards for their own systems."""
    if not (by.can(Capability.EDIT_LINEAGE, dataset.system) or by.can(Capability.DECIDE, dataset.system)):
        raise Forbidden("FORBIDDEN", by.why_not(Capability.DECIDE, dataset.system))


def _record(action: str, row: NodeName, dataset: Dataset | None, *, by: Any) -> None:
    record(
        Entry(
            action,
            "lineage_name",
            row.pk,
            f"{row.namespace}/{row.name}",
            system_code=dataset.system.code if dataset is not None else "",
            dataset_id=dataset.pk if dataset is not None else None,
            after={"dataset": dataset.name if dataset is not None else None},
        ),
        by=by,
    )


def find_node(namespace: str, name: str) -> tuple[Node | None, int | None]:
    """(node, dataset id) that a name means now, whether events used it or not."""
    node = node_named(DatasetName(namespace, name))
    if node is not None:
        return node, node.dataset_id
    told = match([DatasetName(namespace, name)])[DatasetName(namespace, name)]
    if told.dataset_id is None:
        return None, None
    return Node.objects.filter(dataset_id=told.dataset_id).first(), told.dataset_id
