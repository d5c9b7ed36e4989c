"""What pipelines reported: the events as they came, and the jobs and runs they speak of.

Only lineage/merging/ writes here. A foreign key has no index of its own where another one begins with it.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from lineage.models.graph import Node


class LineageEvent(models.Model):
    """One row is an OpenLineage event exactly as it came, with what was odd about it."""

    class Kind(models.TextChoices):
        RUN = "run", "Run"
        JOB = "job", "Job"
        DATASET = "dataset", "Dataset"

    class State(models.TextChoices):
        MERGED = "merged", "In the graph"
        FAILED = "failed", "Kept, not yet in the graph"

    digest = models.CharField(
        max_length=64, unique=True, help_text="sha256 of run id, event type, event time and body."
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    event_type = models.CharField(max_length=64, blank=True)
    event_time = models.DateTimeField()
    run_id = models.CharField(max_length=255, blank=True, help_text="As the sender wrote it.")
    job_key = models.CharField(max_length=64, blank=True, help_text="The key of its job.")
    job_namespace = models.TextField(blank=True)
    job_name = models.TextField(blank=True)
    producer = models.TextField(blank=True)
    body = models.TextField(help_text="The JSON text, as it came.")
    oddities = models.JSONField(
        default=list, blank=True, help_text="What differs from the specification, in words."
    )
    state = models.CharField(max_length=8, choices=State.choices, default=State.MERGED)
    error = models.TextField(blank=True)
    received_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["run_id", "-id"], name="lineage_lineageevent_run"),
            models.Index(fields=["job_key", "-id"], name="lineage_lineageevent_job"),
            models.Index(fields=["event_type", "-id"], name="lineage_lineageevent_type"),
            models.Index(fields=["-event_time", "-id"], name="lineage_lineageevent_time"),
            models.Index(fields=["id"], condition=Q(state="failed"), name="lineage_lineageevent_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type or self.kind} {self.job_name or self.run_id}"


class Job(models.Model):
    """One row is a job of a pipeline, by its namespace and name."""

    key = models.CharField(max_length=64, unique=True, help_text="sha256 of namespace and name.")
    namespace = models.TextField()
    name = models.TextField()
    description = models.TextField(blank=True)
    facets = models.JSONField(default=dict, blank=True, help_text="The newest of each facet, with its time.")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Run(models.Model):
    """One row is one run of a job; all of its events are merged here, in whatever order they came.

    A run id that is reported under two jobs is two runs.
    """

    run_id = models.UUIDField(help_text="A run id that is no UUID becomes its version 5 UUID.")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs", db_index=False)
    state = models.CharField(max_length=16, blank=True)
    state_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    parent_run_id = models.UUIDField(null=True, blank=True)
    facets = models.JSONField(default=dict, blank=True, help_text="The newest of each facet, with its time.")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["-last_seen", "-id"]
        constraints = [models.UniqueConstraint(fields=["run_id", "job"], name="lineage_run_once")]
        indexes = [models.Index(fields=["job", "-last_seen"], name="lineage_run_job")]

    def __str__(self) -> str:
        return str(self.run_id)


class Role(models.TextChoices):
    INPUT = "input", "Read"
    OUTPUT = "output", "Written"


class RunDataset(models.Model):
    """One row says that a run read or wrote a node, and when its events said so."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="datasets", db_index=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="runs")
    role = models.CharField(max_length=6, choices=Role.choices)
    facets = models.JSONField(default=dict, blank=True, help_text="Row counts and quality of this run.")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "node", "role"], name="lineage_rundataset_once")
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.node_id}"


class JobDataset(models.Model):
    """One row says that a job reads or writes a node, over all of its runs."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="datasets", db_index=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="jobs")
    role = models.CharField(max_length=6, choices=Role.choices)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "node", "role"], name="lineage_jobdataset_once")
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.node_id}"
