"""Merging events into the graph. The outcome does not depend on their order, nor on how often one comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from aide.work.queue import enqueue
from lineage.merging.columns import merge_columns
from lineage.merging.jobs import RunKey, job_news, jobs_of, runs_of
from lineage.merging.nodes import Seen, add_nodes, key_of, name_nodes
from lineage.merging.rows import Facets, JobRow, Known, NodeRow, RunRow, UseRow, read
from lineage.merging.statements import Script, add_lock
from lineage.merging.uniting import end_edges
from lineage.merging.upserts import AS_TOLD, TOLD, add_upsert, edge_sets, span_sets, use_sets
from lineage.models import Edge, JobDataset, RunDataset
from lineage.models.graph import DECLARED
from lineage.openlineage import DatasetName, JobName, OpenLineageEvent, stamped
from lineage.openlineage.model import INPUT, JOB, OUTPUT

MOST_PAIRS = 100_000
"""A run that reads and writes more than so many pairs of datasets draws only what it says in so many words."""

REDRAW = "lineage.redraw"

Pair = tuple[int, int, int]
Uses = dict[int, dict[tuple[int, str], UseRow]]
"""By run, then by node and role."""


def merge(events: Sequence[OpenLineageEvent]) -> None:
    """Bring events into the graph, in the caller's transaction."""
    if not events:
        return
    told = [(event, event.event_time.isoformat(timespec="microseconds")) for event in events]
    seen = _names_in(events)
    keys = {name: key_of(*name) for name in seen}
    news = job_news(told)
    declared = [each.event_time for each in events if each.job is None and (each.flows or each.columns)]
    news |= job_news([(OpenLineageEvent(JOB, at, job=JobName(*DECLARED)), "") for at in declared])
    job_keys = [key_of(*name) for name in news]
    run_ids = {event.run_uuid for event in events if event.run_uuid is not None}
    script = Script()
    add_lock(script)
    known = read(script, names=keys.values(), jobs=job_keys, runs=run_ids)
    named = name_nodes(seen, same=[pair for event in events for pair in event.same], keys=keys, known=known)
    if named.are_united:
        known = read(script, names=(), jobs=job_keys, runs=run_ids)
    nodes = named.rows
    for event, at in told:
        for use in event.datasets:
            if use.facets:
                nodes[use.dataset].facets.take(stamped(use.facets, at=at))
    named.make()
    named.add(script)
    jobs = jobs_of(news, known, script)
    runs = runs_of(told, jobs, known, script)
    uses = _merge_uses(told, nodes, jobs, runs, known, script)
    _merge_job_datasets(events, nodes, jobs, script)
    edges = Spans()
    for run in runs.values():
        edges.cross(uses.get(run.pk, {}), job_id=run.job_id)
    _say_edges(events, nodes, jobs, edges)
    names = ("source_id", "target_id", "job_id", "first_seen", "last_seen", *TOLD)
    rows = [(*key, *span, *AS_TOLD) for key, span in edges.items()]
    add_upsert(script, Edge, names, rows, unique=3, sets=edge_sets)
    merge_columns(events, nodes, jobs, script)
    script.run()
    _end_dropped(events, uses, nodes)
    for job_id in _grown_too_wide(runs.values(), uses, known):
        enqueue(REDRAW, key=f"{REDRAW}:{job_id}", job_id=job_id)


def _grown_too_wide(runs: Iterable[RunRow], uses: Uses, known: Known) -> list[int]:
    """The jobs of runs that are beyond the bound from now on, and drew pairs before: these have to go."""
    found = set()
    for run in runs:
        if _pairs(uses[run.pk].values()) > MOST_PAIRS:
            before = _pairs(row for row in known.uses if row.run_pk == run.pk)
            if 0 < before <= MOST_PAIRS:
                found.add(run.job_id)
    return sorted(found)


def _pairs(rows: Iterable[UseRow]) -> int:
    roles = [row.role for row in rows]
    return roles.count(INPUT) * roles.count(OUTPUT)


class Spans(dict[Pair, list[datetime]]):
    """First and last time by (source, target, job)."""

    def add(self, source: int, target: int, job: int, first: datetime, last: datetime) -> None:
        if source == target:
            return
        span = self.setdefault((source, target, job), [first, last])
        span[0], span[1] = min(span[0], first), max(span[1], last)

    def cross(self, uses: Mapping[tuple[int, str], UseRow], *, job_id: int) -> None:
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


def _merge_uses(
    told: Sequence[tuple[OpenLineageEvent, str]],
    nodes: Mapping[DatasetName, NodeRow],
    jobs: Mapping[JobName, JobRow],
    runs: Mapping[RunKey, RunRow],
    known: Known,
    script: Script,
) -> Uses:
    """What each run of the batch reads and writes, with what its earlier events said, by run, node and role."""
    found: Uses = {run.pk: {} for run in runs.values()}
    for row in known.uses:
        if row.run_pk in found:
            found[row.run_pk][row.node_id, row.role] = row
    touched: dict[int, UseRow] = {}
    for event, at in told:
        if event.run_uuid is None or event.job is None or not event.datasets:
            continue
        run = runs[event.run_uuid, jobs[event.job].pk]
        mine, time = found[run.pk], event.event_time
        for use in event.datasets:
            pk = nodes[use.dataset].pk
            fresh = (run.pk, pk, use.role, time, time)
            row = mine.get((pk, use.role)) or mine.setdefault((pk, use.role), UseRow(*fresh, Facets()))
            row.first_seen = min(row.first_seen, time)
            row.last_seen = max(row.last_seen, time)
            if use.run_facets or use.dropped:
                dropped = {"dropped": {"by": "this run"}} if use.dropped else {}
                row.facets.take(stamped({**use.run_facets, **dropped}, at=at))
            touched[id(row)] = row
    names = ("run_id", "node_id", "role", "first_seen", "last_seen", "facets")
    rows = [
        (row.run_pk, row.node_id, row.role, row.first_seen, row.last_seen, row.facets.value)
        for row in touched.values()
    ]
    add_upsert(script, RunDataset, names, rows, unique=3, sets=use_sets)
    return found


def _merge_job_datasets(
    events: Iterable[OpenLineageEvent],
    nodes: Mapping[DatasetName, NodeRow],
    jobs: Mapping[JobName, JobRow],
    script: Script,
) -> None:
    found: dict[tuple[int, int, str], list[datetime]] = {}
    for event in events:
        at = event.event_time
        listed = [(event.job, use.dataset, use.role) for use in event.datasets if use.role]
        listed += [(use.job, use.dataset, use.role) for use in event.job_uses]
        for job, dataset, role in listed:
            if job is not None:
                span = found.setdefault((jobs[job].pk, nodes[dataset].pk, role), [at, at])
                span[0], span[1] = min(span[0], at), max(span[1], at)
    names = ("job_id", "node_id", "role", "first_seen", "last_seen")
    rows = [(*key, *span) for key, span in found.items()]
    add_upsert(script, JobDataset, names, rows, unique=3, sets=span_sets)


def _say_edges(
    events: Iterable[OpenLineageEvent],
    nodes: Mapping[DatasetName, NodeRow],
    jobs: Mapping[JobName, JobRow],
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
    events: Iterable[OpenLineageEvent], uses: Uses, nodes: Mapping[DatasetName, NodeRow]
) -> None:
    """A dataset that a run drops ends when that run last spoke of it, whichever of its events said so.

    Edges to all that the runs use are looked at: an event that comes late draws some to what was dropped before.
    """
    by_id = {node.pk: node for node in nodes.values()}
    for event in events:
        for use in event.datasets if event.run_uuid is None or event.job is None else ():
            if use.dropped:
                _end(nodes[use.dataset], event.event_time)
    ended: set[int] = set()
    for used in uses.values():
        for (node_id, _), row in used.items():
            node = by_id.get(node_id)
            if node is None:
                ended |= {node_id} if row.was_dropped else set()
            elif "dropped" in row.facets.value:
                _end(node, row.last_seen)
    script = Script()
    add_nodes(script, by_id.values())
    script.run()
    ended |= {pk for pk, node in by_id.items() if node.ended_at is not None}
    if ended:
        end_edges(sorted(ended))


def _end(node: NodeRow, at: datetime) -> None:
    if node.ended_at is None or node.ended_at < at:
        node.ended_at, node.renewed = at, True
