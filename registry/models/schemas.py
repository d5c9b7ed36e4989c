"""Schema versions as content. Only registry.versions writes these tables."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from aide.core.models import Editable
from registry.models.datasets import Dataset, Field
from registry.models.types import DataType


class TypeInstance(Editable):
    """One row is a type with its parameters, such as numeric(12,2). It never changes and is shared.

    A root has a content hash and may be used by any number of bindings; parts of nested types hang under
    their parent by slot.
    """

    data_type = models.ForeignKey(
        DataType, on_delete=models.PROTECT, null=True, blank=True, related_name="instances"
    )
    type_params = models.JSONField(default=dict, blank=True)
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="parts")
    slot = models.CharField(max_length=255, blank=True)
    rendered = models.TextField(blank=True)
    type_name = models.CharField(max_length=500, blank=True, help_text="The source's bare name of the type.")
    type_schema = models.CharField(max_length=500, blank=True)
    type_kind = models.CharField(max_length=32, blank=True)
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Parameters as the source declares them."
    )
    content_hash = models.CharField(max_length=64, null=True, blank=True)  # noqa: DJ001 (null = not shared)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["content_hash"],
                condition=Q(content_hash__isnull=False),
                name="registry_typeinstance_shared_once",
            ),
            models.UniqueConstraint(
                fields=["parent", "slot"],
                condition=Q(parent__isnull=False),
                name="registry_typeinstance_slot_once",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True, slot="") | (Q(parent__isnull=False) & ~Q(slot="")),
                name="registry_typeinstance_slot_with_parent",
            ),
        ]

    def __str__(self) -> str:
        return self.rendered or self.type_name


class DatasetSchema(Editable):
    """One row is one version of a dataset's schema. Published, it is immutable."""

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHED = "published", "Published"

    class Origin(models.TextChoices):
        API = "api", "API"
        CRAWL = "crawl", "Crawl"
        CONTRACT = "contract", "Contract"
        CHARTDB = "chartdb", "ChartDB"
        MANUAL = "manual", "By hand"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="schemas")
    version_num = models.PositiveIntegerField()
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.DRAFT)
    fingerprint = models.CharField(max_length=64, blank=True)
    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.API)
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    object_kind = models.CharField(max_length=32, blank=True)
    comment = models.TextField(blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    primary_key = models.JSONField(null=True, blank=True)
    unique_keys = models.JSONField(default=list, blank=True)
    foreign_keys = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["dataset_id", "version_num"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "version_num"], name="registry_datasetschema_version_once"
            ),
            models.CheckConstraint(
                condition=Q(status="draft") | (Q(published_at__isnull=False) & ~Q(fingerprint="")),
                name="registry_datasetschema_published_is_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.version_num}"


class FieldBinding(models.Model):
    """One row is a field as it stands in one version: its name, place, type and properties then."""

    dataset_schema = models.ForeignKey(DatasetSchema, on_delete=models.CASCADE, related_name="bindings")
    field = models.ForeignKey(Field, on_delete=models.PROTECT, related_name="bindings")
    parent_field = models.ForeignKey(Field, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    name = models.CharField(max_length=1000)
    position = models.PositiveIntegerField()
    native_position = models.IntegerField(null=True, blank=True)
    is_nullable = models.BooleanField(default=True)
    type_instance = models.ForeignKey(
        TypeInstance, on_delete=models.PROTECT, null=True, blank=True, related_name="bindings"
    )
    native_type = models.TextField(blank=True)
    default = models.TextField(null=True, blank=True)  # noqa: DJ001 (null = no default; '' is one)
    primary_key = models.PositiveIntegerField(null=True, blank=True)
    comment = models.TextField(blank=True)
    generated = models.JSONField(null=True, blank=True)
    identity = models.JSONField(null=True, blank=True)
    on_update = models.TextField(blank=True)
    hidden = models.BooleanField(default=False)
    row_version = models.PositiveIntegerField(default=1, db_default=1, editable=False)

    class Meta:
        ordering = ["dataset_schema_id", "position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset_schema", "field"], name="registry_fieldbinding_field_once"
            ),
            models.UniqueConstraint(
                fields=["dataset_schema", "position"],
                condition=Q(parent_field__isnull=True),
                name="registry_fieldbinding_position_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name
