"""Jobs and runs: found or made, and renewed by what events say of them. The lock of the graph is held."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lineage.merging.nodes import Seen, key_of
from lineage.merging.upserts import chunks, insert_rows, update_rows
from lineage.models import Job, Run
from lineage.openlineage import JobName, OpenLineageEvent, newest, stamped
from lineage.openlineage.reading import run_uuid_of

RunKey = tuple[uuid.UUID, int]
_ENDS = frozenset({"COMPLETE", "ABORT", "FAIL"})
_RANK = {"": 0, "OTHER": 1, "START": 2, "RUNNING": 3, "COMPLETE": 4, "ABORT": 5, "FAIL": 6}


@dataclass
class JobNews:
    """What a batch says of a job."""

    seen: Seen
    facets: dict[str, Any] = field(default_factory=dict)


def job_news(events: Iterable[tuple[OpenLineageEvent, str]]) -> dict[JobName, JobNews]:
    """By job: when it was spoken of, and the newest of its facets."""
    found: dict[JobName, JobNews] = {}
    for event, at in events:
        named = [event.job] if event.job is not None else []
        for name in [*named, *(use.job for use in event.job_uses)]:
            news = found.setdefault(name, JobNews(Seen(event.event_time, event.event_time)))
            news.seen.also(event.event_time)
        if event.job is not None and event.job_facets:
            news = found[event.job]
            news.facets = newest(news.facets, stamped(event.job_facets, at=at))
    return found


def jobs_of(news: Mapping[JobName, JobNews]) -> dict[JobName, Job]:
    """The job of each name, made where there is none."""
    keys = {key_of(*name): name for name in news}
    rows: dict[JobName, Job] = {}
    for some in chunks(sorted(keys)):
        rows |= {keys[row.key]: row for row in Job.objects.filter(key__in=some)}
    fresh, changed = [], []
    for key, name in sorted(keys.items()):
        row, told = rows.get(name), news[name]
        if row is None:
            row = Job(key=key, namespace=name.namespace, name=name.name)
            row.first_seen, row.last_seen = told.seen.first, told.seen.last
            rows[name] = row
            fresh.append(row)
        before = (row.first_seen, row.last_seen, row.facets)
        row.first_seen = min(row.first_seen, told.seen.first)
        row.last_seen = max(row.last_seen, told.seen.last)
        row.facets = newest(row.facets, told.facets)
        row.description = _description(row.facets)
        if row.pk and before != (row.first_seen, row.last_seen, row.facets):
            changed.append(row)
    if fresh:
        insert_rows(Job, fresh)
    if changed:
        update_rows(Job, changed, ["first_seen", "last_seen", "facets", "description"])
    return rows


def _description(facets: Mapping[str, Any]) -> str:
    value = facets.get("documentation", {}).get("value", {})
    words = value.get("description") if value.get("_deleted") is not True else ""
    return words[:10_000] if isinstance(words, str) else ""


def runs_of(
    events: Sequence[tuple[OpenLineageEvent, str]], jobs: Mapping[JobName, Job]
) -> tuple[dict[RunKey, Run], set[int]]:
    """The run of each (run id, job), renewed; and the ids of those that are new."""
    told: dict[RunKey, list[tuple[OpenLineageEvent, str]]] = {}
    for event, at in events:
        if event.run_uuid is not None and event.job is not None:
            told.setdefault((event.run_uuid, jobs[event.job].pk), []).append((event, at))
    rows: dict[RunKey, Run] = {}
    for some in chunks(sorted({run_id for run_id, _ in told})):
        rows |= {(row.run_id, row.job_id): row for row in Run.objects.filter(run_id__in=some)}
    fresh, changed = [], []
    for key in sorted(told, key=str):
        row = rows.get(key)
        first = told[key][0][0].event_time
        if row is None:
            row = Run(run_id=key[0], job_id=key[1], first_seen=first, last_seen=first)
            rows[key] = row
            fresh.append(row)
        before = _values(row)
        for event, at in told[key]:
            _renew(row, event, at)
        if row.pk and before != _values(row):
            changed.append(row)
    if fresh:
        insert_rows(Run, fresh)
    if changed:
        names = [
            "state", "state_at", "started_at", "ended_at", "parent_run_id", "facets", "first_seen", "last_seen",
        ]  # fmt: skip
        update_rows(Run, changed, names)
    return {key: rows[key] for key in told}, {row.pk for row in fresh}


def _values(row: Run) -> tuple[Any, ...]:
    return (row.state, row.state_at, row.started_at, row.ended_at, row.facets, row.first_seen, row.last_seen)


def _renew(row: Run, event: OpenLineageEvent, at: str) -> None:
    row.first_seen = min(row.first_seen, event.event_time)
    row.last_seen = max(row.last_seen, event.event_time)
    kind = event.event_type
    if kind == "START":
        row.started_at = min(filter(None, (row.started_at, event.event_time)))
    if kind in _ENDS:
        row.ended_at = max(filter(None, (row.ended_at, event.event_time)))
    if kind and _order(kind, event.event_time) > _order(row.state, row.state_at):
        row.state, row.state_at = kind[:16], event.event_time
    if event.run_facets:
        row.facets = newest(row.facets, stamped(event.run_facets, at=at))
        row.parent_run_id = _parent(row.facets)


def _parent(facets: Mapping[str, Any]) -> uuid.UUID | None:
    value = facets.get("parent", {}).get("value", {})
    run = value.get("run") if value.get("_deleted") is not True else None
    run_id = run.get("runId") if isinstance(run, Mapping) else None
    return run_uuid_of(run_id) if isinstance(run_id, str) and run_id else None


def _order(kind: str, at: datetime | None) -> tuple[bool, bool, str, int, str]:
    """An end counts more than what comes before an end; then the later; then the more final."""
    moment = at.isoformat(timespec="microseconds") if at is not None else ""
    tells = kind in _RANK and kind not in {"", "OTHER"}
    return (kind in _ENDS, tells, moment, _RANK.get(kind, 1), kind)
