"""The queue: a row is the truth about a piece of work; threads and Celery only carry its id."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class WorkItem(models.Model):
    """One row is work still to be done, or that failed for good. Work that is done is deleted."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DEAD = "dead", "Dead"

    task = models.CharField(max_length=120)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State.choices, default=State.QUEUED)
    key = models.CharField(  # noqa: DJ001 (null = any number may wait)
        max_length=200,
        null=True,
        blank=True,
        help_text="At most one piece with a key waits at a time.",
    )
    run_after = models.DateTimeField()
    sent_at = models.DateTimeField(
        null=True, blank=True, help_text="When its id was last given to the broker."
    )
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=Q(state="queued"), name="work_workitem_key_waits_once"
            )
        ]
        indexes = [models.Index(fields=["state", "run_after", "id"], name="work_workitem_due")]

    def __str__(self) -> str:
        return f"{self.task} #{self.pk}"


class WorkerBeat(models.Model):
    """One row is a process that carries out work, and when it was last heard of."""

    name = models.CharField(max_length=200, primary_key=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
