"""Metadata events: who did what to which data. Only lineage/events.py writes them."""

from __future__ import annotations

from django.db import models


class Event(models.Model):
    """One row is a metadata event as it was accepted. It never changes."""

    event_id = models.CharField(
        max_length=200, unique=True, help_text="The sender's own id, or one given on arrival."
    )
    resource = models.CharField(max_length=1000, help_text="What data was acted on.")
    subject = models.CharField(max_length=1000, blank=True, help_text="What acted on it.")
    action = models.CharField(max_length=255, blank=True)
    happened_at = models.DateTimeField(help_text="When it happened, as the sender says.")
    additional_values = models.JSONField(default=dict, blank=True, help_text="Texts by key.")
    received_at = models.DateTimeField()

    class Meta:
        ordering = ["-happened_at", "-id"]
        indexes = [
            models.Index(fields=["resource", "-happened_at", "-id"], name="lineage_event_resource"),
            models.Index(fields=["subject", "-happened_at", "-id"], name="lineage_event_subject"),
            models.Index(fields=["action", "-happened_at", "-id"], name="lineage_event_action"),
            models.Index(fields=["-happened_at", "-id"], name="lineage_event_time"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.action} {self.resource}"
