"""What waits to be sent to Kafka, and what came from there and could not be read.

Only lineage/outbox.py and lineage/retention.py write messages, only lineage/consuming.py what was refused.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class OutboxMessage(models.Model):
    """One row is a message that was promised to Kafka in the transaction of what it tells."""

    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        DELIVERED = "delivered", "Delivered"
        DEAD = "dead", "Dead"

    class Kind(models.TextChoices):
        METADATA = "metadata", "Metadata event"
        LINEAGE = "lineage", "Lineage event"
        CATALOG = "catalog", "Registry change"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    topic = models.CharField(max_length=249)
    key = models.CharField(max_length=1100, help_text="Messages with the same key are sent in their order.")
    shard = models.PositiveSmallIntegerField(help_text="From the key: what one relay holds at a time.")
    event_id = models.CharField(
        max_length=200, help_text="Travels in a header, so that readers can tell repetitions."
    )
    payload = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True, help_text="Empty means at once.")
    last_error = models.TextField(blank=True)
    sink = models.CharField(max_length=8, blank=True, help_text="kafka, or log where no broker is set.")
    partition = models.IntegerField(null=True, blank=True)
    offset = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    first_tried_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["shard", "id"], condition=Q(status="pending"), name="lineage_outboxmessage_waiting"
            ),
            models.Index(
                fields=["shard", "next_try_at"],
                condition=Q(status="pending", next_try_at__isnull=False),
                name="lineage_outboxmessage_later",
            ),
            models.Index(fields=["-id"], condition=Q(status="dead"), name="lineage_outboxmessage_dead"),
            models.Index(
                fields=["delivered_at"], condition=Q(status="delivered"), name="lineage_outboxmessage_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.event_id}"


class OutboxShard(models.Model):
    """One row is a share of the keys, and which relay holds it for how long."""

    number = models.PositiveSmallIntegerField(primary_key=True)
    relay = models.CharField(max_length=200, blank=True)
    wanted_by = models.CharField(
        max_length=200, blank=True, default="", help_text="The relay that it is handed to next."
    )
    lease_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"shard {self.number}"


class RefusedMessage(models.Model):
    """One row is a message of a topic that could not be taken, kept with the reason."""

    topic = models.CharField(max_length=249)
    partition = models.IntegerField()
    offset = models.BigIntegerField()
    reason = models.TextField()
    body = models.TextField(
        blank=True, help_text="Its beginning; bytes that are no text are shown as escapes."
    )
    received_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "partition", "offset"], name="lineage_refusedmessage_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.partition} {self.offset}"
