"""Merging events into the graph. The outcome does not depend on their order, nor on how often one comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lineage.merging.columns import merge_columns
from lineage.merging.jobs import job_news, jobs_of, runs_of
from lineage.merging.nodes import Seen, nodes_of, write_nodes
from lineage.merging.uniting import end_edges
from lineage.merging.upserts import edge_sets, lock_graph, span_sets, upsert
from lineage.models import Edge, Job, JobDataset, Node, Run, RunDataset
from lineage.models.graph import DECLARED
from lineage.openlineage import DatasetName, JobName, OpenLineageEvent, newest, stamped
from lineage.openlineage.model import INPUT, JOB, OUTPUT

MOST_PAIRS = 100_000
"""A run that reads and writes more than so many pairs of datasets draws only what it says in so many words."""

Pair = tuple[int, int, int]


def merge(events: Sequence[OpenLineageEvent]) -> None:
    """Bring events into the graph, in the caller's transaction."""
    if not events:
        return
    lock_graph()
    told = [(event, event.event_time.isoformat(timespec="microseconds")) for event in events]
    names = _names_in(events)
    nodes = nodes_of(names, same=[pair for event in events for pair in event.same])
    _describe(told, nodes)
    news = job_news(told)
    if any(event.job is None and (event.flows or event.columns) for event in events):
        declared = [e.event_time for e in events if e.job is None and (e.flows or e.columns)]
        news |= job_news([(OpenLineageEvent(JOB, at, job=JobName(*DECLARED)), "") for at in declared])
    jobs = jobs_of(news)
    runs, new_runs = runs_of(told, jobs)
    uses = _merge_uses(told, nodes, jobs, runs, new_runs)
    _merge_job_datasets(events, nodes, jobs)
    edges = Spans()
    for run in runs.values():
        edges.cross(uses.get(run.pk, {}), job_id=run.job_id)
    _say_edges(events, nodes, jobs, edges)
    upsert(
        Edge,
        [
            {
                "source_id": source, "target_id": target, "job_id": job, "origin": Edge.Origin.EVENT,
                "first_seen": span[0], "last_seen": span[1], "ended_at": None, "reason": "",
            }
            for (source, target, job), span in edges.items()
        ],
        unique=("source_id", "target_id", "job_id"),
        sets=edge_sets(Edge._meta.db_table),
    )  # fmt: skip
    merge_columns(events, nodes, jobs)
    _end_dropped(events, runs, uses, nodes)


@dataclass(slots=True)
class Use:
    """What a run did with a node: one row of RunDataset."""

    node_id: int
    role: str
    first_seen: datetime
    last_seen: datetime
    facets: dict[str, Any]


class Spans(dict[Pair, list[datetime]]):
    """First and last time by (source, target, job)."""

    def add(self, source: int, target: int, job: int, first: datetime, last: datetime) -> None:
        if source == target:
            return
        span = self.setdefault((source, target, job), [first, last])
        span[0], span[1] = min(span[0], first), max(span[1], last)

    def cross(self, uses: Mapping[tuple[int, str], Use], *, job_id: int) -> None:
        """Everything that a run read flows into everything that it wrote."""
        read = [row for (_, role), row in uses.items() if role == INPUT]
        written = [row for (_, role), row in uses.items() if role == OUTPUT]
        if len(read) * len(written) > MOST_PAIRS:
            return
        for source in read:
            for target in written:
                first = min(source.first_seen, target.first_seen)
                self.add(
                    source.node_id, target.node_id, job_id, first, max(source.last_seen, target.last_seen)
                )


def _names_in(events: Iterable[OpenLineageEvent]) -> dict[DatasetName, Seen]:
    found: dict[DatasetName, Seen] = {}
    for event in events:
        at = event.event_time
        named = [use.dataset for use in event.datasets]
        named += [name for flow in event.flows for name in flow]
        named += [name for each in event.columns for name in (each.source, each.target)]
        named += [name for pair in event.same for name in pair]
        named += [use.dataset for use in event.job_uses]
        for name in named:
            seen = found.get(name)
            if seen is None:
                found[name] = Seen(at, at)
            else:
                seen.also(at)
    return found


def _describe(told: Sequence[tuple[OpenLineageEvent, str]], nodes: Mapping[DatasetName, Node]) -> None:
    """The newest of each facet goes to the node."""
    changed: dict[int, Node] = {}
    for event, at in told:
        for use in event.datasets:
            if not use.facets:
                continue
            node = nodes[use.dataset]
            facets = newest(node.facets, stamped(use.facets, at=at))
            if facets != node.facets:
                node.facets = facets
                changed[node.pk] = node
    write_nodes(list(changed.values()))


def _merge_uses(
    told: Sequence[tuple[OpenLineageEvent, str]],
    nodes: Mapping[DatasetName, Node],
    jobs: Mapping[JobName, Job],
    runs: Mapping[Any, Run],
    new_runs: set[int],
) -> dict[int, dict[tuple[int, str], Use]]:
    """What each run of the batch reads and writes, with what its earlier events said, by run, node and role."""
    found: dict[int, dict[tuple[int, str], Use]] = {run.pk: {} for run in runs.values()}
    earlier = [pk for pk in found if pk not in new_runs]
    if earlier:
        names = ("run_id", "node_id", "role", "first_seen", "last_seen", "facets")
        for run_id, *values in RunDataset.objects.filter(run_id__in=earlier).values_list(*names):
            found[run_id][values[0], values[1]] = Use(*values)
    touched: dict[tuple[int, int, str], Use] = {}
    for event, at in told:
        if event.run_uuid is None or event.job is None:
            continue
        run = runs[event.run_uuid, jobs[event.job].pk]
        for use in event.datasets:
            node = nodes[use.dataset]
            row = found[run.pk].get((node.pk, use.role))
            if row is None:
                row = Use(node.pk, use.role, event.event_time, event.event_time, {})
                found[run.pk][node.pk, use.role] = row
            row.first_seen = min(row.first_seen, event.event_time)
            row.last_seen = max(row.last_seen, event.event_time)
            facets = {**use.run_facets, **({"dropped": {"by": "this run"}} if use.dropped else {})}
            if facets:
                row.facets = newest(row.facets, stamped(facets, at=at))
            touched[run.pk, node.pk, use.role] = row
    upsert(
        RunDataset,
        [
            {
                "run_id": run_id, "node_id": row.node_id, "role": row.role, "facets": row.facets,
                "first_seen": row.first_seen, "last_seen": row.last_seen,
            }
            for (run_id, _, _), row in touched.items()
        ],
        unique=("run_id", "node_id", "role"),
        sets=span_sets(RunDataset._meta.db_table) | {"facets": "excluded.facets"},
    )  # fmt: skip
    return found


def _merge_job_datasets(
    events: Iterable[OpenLineageEvent], nodes: Mapping[DatasetName, Node], jobs: Mapping[JobName, Job]
) -> None:
    found: dict[tuple[int, int, str], Seen] = {}
    for event in events:
        listed = [(event.job, use.dataset, use.role) for use in event.datasets if use.role]
        listed += [(use.job, use.dataset, use.role) for use in event.job_uses]
        for job, dataset, role in listed:
            if job is not None:
                key = (jobs[job].pk, nodes[dataset].pk, role)
                found.setdefault(key, Seen(event.event_time, event.event_time)).also(event.event_time)
    upsert(
        JobDataset,
        [
            {"job_id": job, "node_id": node, "role": role, "first_seen": seen.first, "last_seen": seen.last}
            for (job, node, role), seen in found.items()
        ],
        unique=("job_id", "node_id", "role"),
        sets=span_sets(JobDataset._meta.db_table),
    )


def _say_edges(
    events: Iterable[OpenLineageEvent],
    nodes: Mapping[DatasetName, Node],
    jobs: Mapping[JobName, Job],
    edges: Spans,
) -> None:
    """What events say in so many words, and what a job without a run reads and writes."""
    for event in events:
        at = event.event_time
        job = jobs[event.job or JobName(*DECLARED)].pk if event.job or event.flows else 0
        for flow in event.flows:
            edges.add(nodes[flow.source].pk, nodes[flow.target].pk, job, at, at)
        if event.kind == JOB and job:
            read = [nodes[use.dataset].pk for use in event.datasets if use.role == INPUT]
            written = [nodes[use.dataset].pk for use in event.datasets if use.role == OUTPUT]
            if len(read) * len(written) <= MOST_PAIRS:
                for source in read:
                    for target in written:
                        edges.add(source, target, job, at, at)


def _end_dropped(
    events: Iterable[OpenLineageEvent],
    runs: Mapping[Any, Run],
    uses: Mapping[int, Mapping[tuple[int, str], Use]],
    nodes: Mapping[DatasetName, Node],
) -> None:
    """A dataset that a run drops ends when that run last spoke of it, whichever of its events said so.

    Edges to all that the runs use are looked at: an event that comes late draws some to what was dropped before.
    """
    by_id = {node.pk: node for node in nodes.values()}
    changed: dict[int, Node] = {}
    for event in events:
        for use in event.datasets if event.run_uuid is None or event.job is None else ():
            told = nodes[use.dataset]
            if use.dropped and (told.ended_at is None or told.ended_at < event.event_time):
                told.ended_at = event.event_time
                changed[told.pk] = told
    for run in runs.values():
        for (node_id, _), row in uses[run.pk].items():
            node = by_id.get(node_id)
            if node is None or "dropped" not in row.facets:
                continue
            if node.ended_at is None or node.ended_at < row.last_seen:
                node.ended_at = row.last_seen
                changed[node_id] = node
    write_nodes(list(changed.values()))
    ended = {pk for pk, node in by_id.items() if node.ended_at is not None}
    ended |= {node_id for used in uses.values() for node_id, _ in used if node_id not in by_id}
    if ended:
        end_edges(sorted(ended))
