"""What people chose in a list to change together, and what came of it. Only aide.desk.bulk writes these tables."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

KEPT = timedelta(hours=24)
"""So long a selection lives, and a batch can be undone."""


class Subject(models.TextChoices):
    FIELD = "field", "Field"
    DATASET = "dataset", "Dataset"


class Selection(models.Model):
    """One row is what a person chose in a list: rows one by one, all that match a filter, or those of a file."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=16, choices=Subject.choices)
    query = models.TextField(blank=True, help_text="The query string of the list.")
    words = models.TextField(blank=True, help_text="The list's search and filters in words.")
    is_whole = models.BooleanField(default=False, help_text="All that match, not rows marked one by one.")
    ids = models.JSONField(default=list)
    count = models.PositiveIntegerField()
    file_name = models.CharField(max_length=255, blank=True)
    wishes = models.JSONField(default=dict, blank=True, help_text="By row, what an uploaded file asks for.")
    faults = models.JSONField(default=list, blank=True, help_text="Lines of the file that cannot be read.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.count} of {self.get_subject_display()}"

    @property
    def is_over(self) -> bool:
        return timezone.now() - self.created_at > KEPT


class Batch(models.Model):
    """One row is one act on many rows. Its id, as hex, is the batch key of its audit entries."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting for a worker"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        UNDOING = "undoing", "Being undone"
        UNDONE = "undone", "Undone"

    ACTIVE = (State.WAITING, State.RUNNING, State.UNDOING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=16, choices=Subject.choices)
    words = models.TextField(blank=True, help_text="Which rows: the filter in words, or the file's name.")
    plan = models.JSONField(default=dict, help_text="What every row gets.")
    wishes = models.JSONField(default=dict, blank=True, help_text="What each row of a file gets.")
    reason = models.TextField(blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    ids = models.JSONField(default=list)
    total = models.PositiveIntegerField(default=0)
    position = models.PositiveIntegerField(default=0, help_text="How many of the rows are behind it.")
    changed = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    undone = models.PositiveIntegerField(default=0)
    kept = models.PositiveIntegerField(default=0, help_text="Rows that undoing left as they are.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "batches"
        indexes = [models.Index(fields=["person", "-created_at"], name="desk_batch_person")]

    def __str__(self) -> str:
        return f"batch of {self.total}"

    @property
    def key(self) -> str:
        """The batch key of its audit entries."""
        return self.id.hex

    @property
    def may_be_undone(self) -> bool:
        """Whether it is done, did something, and is not older than 24 hours."""
        is_fresh = self.finished_at is not None and timezone.now() - self.finished_at <= KEPT
        return self.state == self.State.DONE and self.changed > 0 and is_fresh


class BatchRow(models.Model):
    """One row is what a batch did to one object, or why it did nothing; undoing writes here what it left."""

    class Outcome(models.TextChoices):
        CHANGED = "changed", "Changed"
        SKIPPED = "skipped", "Skipped"
        UNDONE = "undone", "Undone"
        KEPT = "kept", "Not undone"

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="rows")
    object_id = models.BigIntegerField()
    name = models.CharField(max_length=1000, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    why = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    confirmed = models.JSONField(default=list, blank=True, help_text="Ids of the tags that it confirmed.")
    asked = models.JSONField(default=list, blank=True, help_text="Ids of the tags it asked to be removed.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["batch", "object_id"], name="desk_batchrow_once")]
        indexes = [models.Index(fields=["batch", "outcome"], name="desk_batchrow_outcome")]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
