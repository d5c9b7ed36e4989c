"""Jobs and runs: found or made, and renewed by what events say of them. The lock of the graph is held."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lineage.merging.nodes import Seen, key_of
from lineage.merging.rows import Facets, JobRow, Known, RunRow
from lineage.merging.statements import Script
from lineage.merging.upserts import add_update, inserted
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


def jobs_of(news: Mapping[JobName, JobNews], known: Known, script: Script) -> dict[JobName, JobRow]:
    """The job of each name, made where there is none; what is renewed goes to the script."""
    rows: dict[JobName, JobRow] = {}
    fresh: list[tuple[JobName, JobRow]] = []
    renewed: list[JobRow] = []
    for key, name in sorted((key_of(*name), name) for name in news):
        told = news[name]
        row = known.jobs.get(key)
        if row is None:
            row = JobRow(0, key, Facets(), told.seen.first, told.seen.last)
            fresh.append((name, row))
        before = (row.first_seen, row.last_seen)
        row.first_seen = min(row.first_seen, told.seen.first)
        row.last_seen = max(row.last_seen, told.seen.last)
        row.facets.take(told.facets)
        if row.pk and (row.facets.renewed or before != (row.first_seen, row.last_seen)):
            renewed.append(row)
        rows[name] = row
    if fresh:
        names = ("key", "namespace", "name", *_JOB)
        made = inserted(Job, names, [(row.key, *name, *_job(row)) for name, row in fresh])
        for (_, row), (pk,) in zip(fresh, made, strict=True):
            row.pk = pk
    bare = [(row.pk, row.first_seen, row.last_seen) for row in renewed if not row.facets.renewed]
    add_update(script, Job, ("id", *_JOB[:2]), bare)
    add_update(script, Job, ("id", *_JOB), [(row.pk, *_job(row)) for row in renewed if row.facets.renewed])
    return rows


_JOB = ("first_seen", "last_seen", "facets", "description")


def _job(row: JobRow) -> tuple[Any, ...]:
    return (row.first_seen, row.last_seen, row.facets.value, _description(row.facets.value))


def _description(facets: Mapping[str, Any]) -> str:
    value = facets.get("documentation", {}).get("value", {})
    words = value.get("description") if value.get("_deleted") is not True else ""
    return words[:10_000] if isinstance(words, str) else ""


def runs_of(
    events: Sequence[tuple[OpenLineageEvent, str]],
    jobs: Mapping[JobName, JobRow],
    known: Known,
    script: Script,
) -> dict[RunKey, RunRow]:
    """The run of each (run id, job) of the events, made where there is none; what is renewed goes to the script."""
    rows: dict[RunKey, RunRow] = {}
    before: dict[RunKey, tuple[Any, ...]] = {}
    for event, at in events:
        if event.run_uuid is None or event.job is None:
            continue
        key = (event.run_uuid, jobs[event.job].pk)
        row = rows.get(key)
        if row is None:
            row = known.runs.get(key)
            if row is None:
                told = event.event_time
                row = RunRow(0, *key, "", None, None, None, None, Facets(), told, told)
            before[key] = _run(row)
            rows[key] = row
        _renew(row, event, at)
    fresh = [row for _, row in sorted(rows.items()) if not row.pk]
    if fresh:
        names = ("run_id", "job_id", *_RUN, "facets")
        made = inserted(Run, names, [(row.run_id, row.job_id, *_run(row), row.facets.value) for row in fresh])
        for row, (pk,) in zip(fresh, made, strict=True):
            row.pk, row.facets.renewed = pk, False
    old = [(row, before[key] != _run(row)) for key, row in rows.items() if key in known.runs]
    whole = [(row.pk, *_run(row), row.facets.value) for row, _ in old if row.facets.renewed]
    bare = [(row.pk, *_run(row)) for row, differs in old if differs and not row.facets.renewed]
    add_update(script, Run, ("id", *_RUN, "facets"), whole)
    add_update(script, Run, ("id", *_RUN), bare)
    return rows


_RUN = ("state", "state_at", "started_at", "ended_at", "parent_run_id", "first_seen", "last_seen")


def _run(row: RunRow) -> tuple[Any, ...]:
    ends = (row.state, row.state_at, row.started_at, row.ended_at)
    return (*ends, row.parent_run_id, row.first_seen, row.last_seen)


def _renew(row: RunRow, event: OpenLineageEvent, at: str) -> None:
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
        row.facets.take(stamped(event.run_facets, at=at))
        row.parent_run_id = _parent(row.facets.value)


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
