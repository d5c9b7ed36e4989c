"""Two nodes, or two columns, that turn out to be one: all of the one goes to the other, and nothing is lost."""

from __future__ import annotations

from typing import Any

from django.db import connection

from lineage.merging.upserts import column_edge_sets, copy_rows, edge_sets, span_sets
from lineage.models import ColumnEdge, Edge, JobDataset, Node, NodeColumn, NodeName, RunDataset
from lineage.openlineage import newest
from lineage.openlineage.naming import display_rank

LINKED = "An event, or its spelling, links it with a name that is known."
_EDGE = ("job_id", "origin", "first_seen", "last_seen", "ended_at", "reason", "drawn_by_id")
_COLUMN_EDGE = (*_EDGE, "transformation", "masking")


def unite(kept: Node, gone: Node) -> None:
    """`kept` takes over all of `gone`, which is deleted. The caller holds the lock and saves nothing of it."""
    _move_runs(kept, gone)
    _move_jobs(kept, gone)
    _move_ends(Edge, kept.pk, gone.pk, _EDGE, edge_sets)
    _move_columns(kept, gone)
    NodeName.objects.filter(node=gone).update(node=kept)
    dataset_id = kept.dataset_id or gone.dataset_id
    gone.delete()
    kept.dataset_id = dataset_id
    kept.first_seen = min(kept.first_seen, gone.first_seen)
    kept.last_seen = max(kept.last_seen, gone.last_seen)
    ends = [end for end in (kept.ended_at, gone.ended_at) if end]
    kept.ended_at = max(ends, default=None)
    kept.facets = newest(kept.facets, gone.facets)
    shown = min(((row.namespace, row.name) for row in (kept, gone)), key=lambda each: display_rank(*each))
    kept.namespace, kept.name = shown
    kept.save()
    if kept.dataset_id:
        names = NodeName.objects.filter(node=kept, matched=NodeName.Matched.UNRESOLVED)
        names.update(
            matched=NodeName.Matched.SYMLINK,
            why="An event, or its spelling, links it with a name that is known.",
        )
    end_edges([kept.pk])


def unite_columns(kept: NodeColumn, gone: NodeColumn) -> None:
    """The edges of one column go to the other, and it is deleted."""
    _move_ends(ColumnEdge, kept.pk, gone.pk, _COLUMN_EDGE, column_edge_sets)
    field_id = gone.field_id
    gone.delete()
    if kept.field_id is None and field_id is not None:
        kept.field_id = field_id
        kept.save(update_fields=["field"])


def _move_runs(kept: Node, gone: Node) -> None:
    there = {
        (row.run_id, row.role): row for row in RunDataset.objects.filter(node=kept, run__datasets__node=gone)
    }
    if there:
        both = []
        for row in RunDataset.objects.filter(node=gone, run_id__in=[run_id for run_id, _ in there]):
            mine = there.get((row.run_id, row.role))
            if mine is None:
                continue
            mine.first_seen = min(mine.first_seen, row.first_seen)
            mine.last_seen = max(mine.last_seen, row.last_seen)
            mine.facets = newest(mine.facets, row.facets)
            both.append(mine)
            row.delete()
        RunDataset.objects.bulk_update(both, ["first_seen", "last_seen", "facets"], batch_size=200)
    RunDataset.objects.filter(node=gone).update(node=kept)


def _move_jobs(kept: Node, gone: Node) -> None:
    table = JobDataset._meta.db_table
    copy_rows(
        JobDataset,
        columns={
            "job_id": "job_id", "node_id": "%s", "role": "role",
            "first_seen": "first_seen", "last_seen": "last_seen",
        },
        where="node_id = %s",
        params=[kept.pk, gone.pk],
        unique=("job_id", "node_id", "role"),
        sets=span_sets(table),
    )  # fmt: skip
    JobDataset.objects.filter(node=gone).delete()


def _move_ends(model: Any, kept: int, gone: int, rest: tuple[str, ...], sets: Any) -> None:
    """Every edge of `gone` becomes one of `kept`; an edge between the two would lead from it to itself and goes."""
    model.objects.filter(source_id__in=(kept, gone), target_id__in=(kept, gone)).delete()
    for end in ("source_id", "target_id"):
        other = "target_id" if end == "source_id" else "source_id"
        copy_rows(
            model,
            columns={end: "%s", other: other, **{name: name for name in rest}},
            where=f"{end} = %s",
            params=[kept, gone],
            unique=("source_id", "target_id", "job_id"),
            sets=sets(model._meta.db_table),
        )
        model.objects.filter(**{end: gone}).delete()


def _move_columns(kept: Node, gone: Node) -> None:
    mine = {row.key: row for row in kept.columns.all()}
    moved = []
    for column in gone.columns.all():
        there = mine.get(column.key)
        if there is not None:
            unite_columns(there, column)
        else:
            moved.append(column.pk)
    NodeColumn.objects.filter(pk__in=moved).update(node=kept)


def end_edges(node_ids: list[int]) -> None:
    """Edges of nodes that were reported dropped have ended, unless they were seen again since."""
    dropped = Node.objects.filter(pk__in=node_ids, ended_at__isnull=False).values_list("pk", "ended_at")
    for pk, ended_at in dropped.order_by("pk"):
        for model, path in ((Edge, ""), (ColumnEdge, "_column")):
            _end(model, pk, ended_at, by_column=bool(path))


def _end(model: Any, node_id: int, ended_at: Any, *, by_column: bool) -> None:
    table = model._meta.db_table
    columns = NodeColumn._meta.db_table
    value = connection.ops.adapt_datetimefield_value(ended_at)
    for end in ("source_id", "target_id"):
        where = f"{end} IN (SELECT id FROM {columns} WHERE node_id = %s)" if by_column else f"{end} = %s"  # noqa: S608
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET ended_at = %s WHERE {where} AND origin = 'event' AND last_seen <= %s "  # noqa: S608
                "AND (ended_at IS NULL OR ended_at < %s)",
                [value, node_id, value, value],
            )
