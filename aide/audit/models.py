"""Audit rows, the signed head of their chain and its anchors. Only aide.audit writes these tables."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class AuditEntry(models.Model):
    """One row is one thing that someone did. Rows are only ever added, and sealed once into the chain."""

    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    actor_name = models.CharField(max_length=255, blank=True)
    actor_roles = models.CharField(max_length=255, blank=True, help_text="The roles held at that time.")
    via = models.CharField(max_length=16)
    action = models.CharField(max_length=64, help_text="area.verb, such as dataset.publish.")
    object_type = models.CharField(max_length=64)
    object_id = models.CharField(max_length=64, blank=True)
    object_name = models.CharField(max_length=1000, blank=True)
    system_code = models.CharField(max_length=64, blank=True)
    dataset_id = models.BigIntegerField(null=True, blank=True)
    risk = models.CharField(max_length=16, blank=True)
    touches_pii = models.BooleanField(default=False)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    reason = models.TextField(blank=True)
    batch = models.CharField(max_length=64, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    ip = models.CharField(max_length=64, blank=True)
    user_agent = models.CharField(max_length=400, blank=True)

    place = models.PositiveBigIntegerField(null=True, blank=True, help_text="Place in the chain, from 1.")
    hash = models.CharField(max_length=64, blank=True)
    mark = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        help_text="A keyed hash of the content, made as the row was written: it holds before the chain does.",
    )

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        constraints = [
            models.UniqueConstraint(
                fields=["place"], condition=Q(place__isnull=False), name="audit_auditentry_place_once"
            )
        ]
        indexes = [
            models.Index(fields=["dataset_id", "-id"], name="audit_entry_dataset"),
            models.Index(fields=["action", "-id"], name="audit_entry_action"),
            models.Index(fields=["system_code", "-id"], name="audit_entry_system"),
            models.Index(fields=["actor", "-id"], name="audit_entry_actor"),
            models.Index(fields=["id"], condition=Q(place__isnull=True), name="audit_entry_unsealed"),
            models.Index(fields=["object_id", "object_type"], name="audit_entry_object"),
            models.Index(fields=["id"], condition=Q(risk="breaking"), name="audit_entry_breaking"),
            models.Index(fields=["id"], condition=Q(touches_pii=True), name="audit_entry_pii"),
            models.Index(fields=["at"], name="audit_entry_at"),
            models.Index(fields=["batch", "-id"], condition=~Q(batch=""), name="audit_entry_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.object_name}"


class ChainHead(models.Model):
    """The single row that says how long the chain is and how it ends, signed, so that a cut tail is found."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    count = models.PositiveBigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)
    signature = models.CharField(max_length=64, blank=True)
    sealed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="audit_chainhead_only_one")]

    def __str__(self) -> str:
        return f"{self.count} sealed"


class ChainAnchor(models.Model):
    """What the head was at some time, signed and numbered without a gap: a head set back or wiped is found."""

    number = models.PositiveBigIntegerField(primary_key=True)
    count = models.PositiveBigIntegerField(db_index=True)
    hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=64)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"anchor {self.number}: {self.count} sealed"


class PendingEntry(models.Model):
    """An audit row that was written and is not sealed yet. The database adds it itself; sealing takes it away."""

    entry_id = models.BigIntegerField(primary_key=True)

    class Meta:
        verbose_name_plural = "pending entries"

    def __str__(self) -> str:
        return f"entry {self.entry_id} waits"
