"""Metadata events: who did what to which data, and what shape they were agreed to have.

Only lineage/events.py and lineage/retention.py write events, only lineage/schemas.py writes schemas.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Event(models.Model):
    """One row is a metadata event as it was accepted. It never changes."""

    event_id = models.CharField(max_length=200, help_text="The sender's own id, or one given on arrival.")
    resource = models.CharField(max_length=1000, blank=True, help_text="What data was acted on.")
    subject = models.CharField(max_length=1000, blank=True, help_text="What acted on it.")
    action = models.CharField(max_length=255, blank=True)
    happened_at = models.DateTimeField(help_text="When it happened, as the sender says.")
    additional_values = models.JSONField(default=dict, blank=True, help_text="Texts by key.")
    received_at = models.DateTimeField()

    class Meta:
        ordering = ["-happened_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["event_id"], name="lineage_event_once")]
        indexes = [
            models.Index(fields=["resource", "-happened_at", "-id"], name="lineage_event_resource"),
            models.Index(fields=["subject", "-happened_at", "-id"], name="lineage_event_subject"),
            models.Index(fields=["action", "-happened_at", "-id"], name="lineage_event_action"),
            models.Index(fields=["-happened_at", "-id"], name="lineage_event_time"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.action} {self.resource}"


class EventSchema(models.Model):
    """One row is a version of what events of a kind must hold, as a JSON Schema. Its content never changes."""

    name = models.CharField(max_length=200, help_text="What events call it: additionalValues.event_schema.")
    version = models.PositiveIntegerField()
    subject = models.CharField(max_length=1000, blank=True, help_text="It is about events of this subject.")
    action = models.CharField(max_length=255, blank=True, help_text="It is about events of this action.")
    schema = models.JSONField(help_text="JSON Schema 2020-12 of the whole event.")
    is_active = models.BooleanField(default=True)
    note = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="lineage_eventschema_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="lineage_eventschema_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
