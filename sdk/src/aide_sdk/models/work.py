"""Answers about people, crawls, decisions, events and the server itself."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from aide_sdk.models.base import Model, Row

Json = dict[str, Any]


class User(Row):
    """A person or a program."""

    email: str
    full_name: str = ""
    is_active: bool = True
    groups: list[str] = Field(default_factory=list)
    systems: list[str] = Field(default_factory=list)
    user_type: str = ""
    last_login: str | None = None


class ApiKey(Row):
    """An API key. Its `secret` is there only in the answer to `create`."""

    name: str = ""
    user_id: int | None = None
    client_id: str = ""
    last_four: str = ""
    scopes: list[str] = Field(default_factory=list)
    systems: list[str] = Field(default_factory=list)
    expires_at: str | None = None
    last_used_at: str | None = None
    revoked_at: str | None = None
    revoked_reason: str = ""
    secret: str | None = Field(default=None, repr=False)


class CrawlPlan(Row):
    """When a system is crawled."""

    system: str
    scope: Json | None = None
    cron: str = ""
    time_zone: str = ""
    is_active: bool = True
    auto_approve: list[str] = Field(default_factory=list)
    next_due_at: str | None = None


class Preview(Model):
    """What a crawl would read; each list holds its beginning."""

    ok: bool
    sentence: str = ""
    total: int = 0
    schemas: list[Json] = Field(default_factory=list)
    datasets: list[Json] = Field(default_factory=list)
    problems: list[Json] = Field(default_factory=list)
    problems_total: int = 0
    not_seen: list[str] = Field(default_factory=list)
    not_seen_total: int = 0


class CrawlRun(Model):
    """One look at a system. `status`: queued, running, cancelling, then completed, completed_with_errors,
    failed, lost or cancelled."""

    id: int
    system: str
    status: str
    trigger: str = ""
    dry_run: bool = False
    config: Any = None
    plan_id: int | None = None
    retry_of_id: int | None = None
    created_at: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    progress: Json | None = None
    coverage: Any = None
    summary: Any = None
    error: str | None = None
    error_code: str | None = None

    @property
    def is_finished(self) -> bool:
        return self.status not in {"queued", "running", "cancelling"}


class Proposal(Model):
    """What a crawl or a person proposes for one dataset.

    `changes`: `[{id, op, path: {dataset, field}, before, after, risk, why, requires, decision: {state, …}}]`.
    """

    id: int
    system: str = ""
    dataset_id: int | None = None
    dataset_name: str = ""
    origin: str = ""
    crawl_run_id: int | None = None
    base_version: int | None = None
    status: str = ""
    comment: str = ""
    changes_total: int = 0
    changes: list[Json] = Field(default_factory=list)


class Outcome(Model):
    """What applying did, change by change."""

    applied: list[Json] = Field(default_factory=list)
    waiting: list[Json] = Field(default_factory=list)
    stale: list[Json] = Field(default_factory=list)
    rejected: list[Json] = Field(default_factory=list)
    failed: list[Json] = Field(default_factory=list)


class Imported(Model):
    """The proposals that a file led to, and what it left as it is."""

    items: list[Proposal] = Field(default_factory=list)
    count: int = 0
    unchanged: list[str] = Field(default_factory=list)
    skipped: list[Json] = Field(default_factory=list)


class Comment(Model):
    """What somebody said about a change."""

    id: int
    change_id: int | None = None
    by: str = ""
    at: str | None = None
    text: str = ""


class MetadataEvent(Model):
    """A stored aiSSEMBLE event."""

    resource: str
    subject: str = ""
    action: str = ""
    timestamp: float | str | None = None
    additionalValues: dict[str, str] = Field(default_factory=dict)  # noqa: N815 (the published name)
    event_id: str | None = None


class EventOutcome(Model):
    """What became of one event of a batch: `stored`, `duplicate` or `refused` (with the `reason`)."""

    event_id: str | None = None
    status: str
    reason: Any = None


class EventSchema(Model):
    """A version of what events of a subject and action must hold (JSON Schema 2020-12)."""

    id: int
    name: str
    version: int | None = None
    subject: str = ""
    action: str = ""
    content: Json = Field(default_factory=dict, alias="schema")
    is_active: bool = True
    note: str = ""


class Sessions(Model):
    """The runs of a resource, newest first; `is_capped` when only its newest events were looked at."""

    resource: str
    events: int = 0
    is_capped: bool = False
    sessions: list[Json] = Field(default_factory=list)


class Quality(Model):
    """The audit of a span of time, subject by subject."""

    events: int = 0
    is_capped: bool = False
    subjects: list[Json] = Field(default_factory=list)


class LineageEvent(Model):
    """An OpenLineage event as the server keeps it: `event` as it came, and what is odd about it."""

    id: int | None = None
    kind: str = ""
    event_type: str = ""
    event_time: str | None = None
    run_id: str = ""
    job_namespace: str = ""
    job_name: str = ""
    state: str = ""
    event: Json = Field(default_factory=dict)


class LineageJob(Model):
    """A job that events told of."""

    id: int
    namespace: str = ""
    name: str = ""
    description: str = ""
    first_seen: str | None = None
    last_seen: str | None = None


class LineageRun(Model):
    """One run of a job."""

    id: int
    run_id: str = ""
    job: str = ""
    job_namespace: str = ""
    state: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    parent_run_id: str | None = None


class LineageName(Model):
    """What events call a dataset; `matched` tells how it was found, `dataset_id` None that it was not."""

    id: int
    namespace: str = ""
    name: str = ""
    matched: str = ""
    why: str = ""
    dataset_id: int | None = None
    bound_by: str | None = None
    node_id: int | None = None
    last_seen: str | None = None


class LineageBatch(Model):
    """What became of a batch of OpenLineage events; `failed_events`: `[{index, reason, retriable}]`."""

    status: str = ""
    summary: Json = Field(default_factory=dict)
    failed_events: list[Json] = Field(default_factory=list)


class Graph(Model):
    """`nodes`: `[{id, namespace, name, dataset_id, field, depth}]`; `edges`: `[{source, target, job, first_seen,
    last_seen}]`."""

    nodes: list[Json] = Field(default_factory=list)
    edges: list[Json] = Field(default_factory=list)
    truncated: bool = False


class OutboxMessage(Model):
    """A message on its way to Kafka: pending, delivered or dead."""

    id: int
    kind: str = ""
    topic: str = ""
    key: str | None = None
    event_id: str | None = None
    status: str = ""
    attempts: int = 0
    last_error: str = ""
    created_at: str | None = None
    delivered_at: str | None = None


class AuditEntry(Model):
    """Who did what to what."""

    id: int
    at: str | None = None
    actor_id: int | None = None
    actor_name: str = ""
    action: str = ""
    object_type: str = ""
    object_id: str = ""
    object_name: str = ""
    system_code: str = ""
    dataset_id: int | None = None
    before: Any = None
    after: Any = None
    reason: str = ""


class AuditProof(Model):
    """Whether the hash chain holds."""

    ok: bool
    sealed: int = 0
    unsealed: int = 0
    first_bad_id: int | None = None


class Health(Model):
    """`status` and one check for each part: `{"database": {"status": …}, …}`."""

    status: str
    checks: Json = Field(default_factory=dict)
