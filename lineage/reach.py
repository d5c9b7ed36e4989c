"""What a caller who is limited to some systems sees of jobs, runs, events and nodes. Reads only.

A name that is not in the registry belongs to no system, so a limited caller sees none of them in lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from aide.accounts.roles import Capability
from lineage.models import Job, JobDataset, LineageEvent, Node, Run

Codes = frozenset[str] | None
"""Codes of systems; None means every system."""
Narrowing = Callable[[QuerySet[Any], Codes], QuerySet[Any]]
_SYSTEM = "node__dataset__system__code__in"


def codes_for(user: Any) -> Codes:
    """The systems that a caller may see."""
    limit = getattr(user, "system_codes_for", None)
    return limit(Capability.VIEW) if limit is not None else None


def nodes_within(rows: QuerySet[Node], codes: Codes) -> QuerySet[Node]:
    """Datasets of these systems."""
    return rows if codes is None else rows.filter(dataset__system__code__in=codes)


def uses_within(rows: QuerySet[JobDataset], codes: Codes) -> QuerySet[JobDataset]:
    """What jobs read and write of these systems."""
    return rows if codes is None else rows.filter(**{_SYSTEM: codes})


def jobs_within(rows: QuerySet[Job], codes: Codes) -> QuerySet[Job]:
    """Jobs that read or write a dataset of these systems."""
    return rows if codes is None else rows.filter(_touching(codes, job=OuterRef("pk")))


def runs_within(rows: QuerySet[Run], codes: Codes) -> QuerySet[Run]:
    """Runs of such jobs."""
    return rows if codes is None else rows.filter(_touching(codes, job=OuterRef("job")))


def events_within(rows: QuerySet[LineageEvent], codes: Codes) -> QuerySet[LineageEvent]:
    """Events of jobs that read or write datasets of these systems and of no other: a body tells of all of them."""
    if codes is None:
        return rows
    of_its_job = JobDataset.objects.filter(job__key=OuterRef("job_key"), node__dataset__isnull=False)
    return rows.filter(
        _touching(codes, job__key=OuterRef("job_key")), ~Exists(of_its_job.exclude(**{_SYSTEM: codes}))
    )


def _touching(codes: frozenset[str], **job: Any) -> Exists:
    return Exists(JobDataset.objects.filter(**job, **{_SYSTEM: codes}))
