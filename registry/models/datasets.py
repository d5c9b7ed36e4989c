"""Datasets and the identity of their fields, with what people wrote about them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from aide.core.models import Editable, SoftDeletable
from registry.models.systems import ALIVE, System


class Compatibility(models.TextChoices):
    NONE = "NONE", "None"
    BACKWARD = "BACKWARD", "Backward"
    FORWARD = "FORWARD", "Forward"
    FULL = "FULL", "Full"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE", "Backward, all versions"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE", "Forward, all versions"
    FULL_TRANSITIVE = "FULL_TRANSITIVE", "Full, all versions"


class Dataset(Editable, SoftDeletable):
    """One row is a table, topic, prefix, folder or view that lives in a system."""

    class Kind(models.TextChoices):
        RDBMS = "rdbms", "Database table"
        KAFKA = "kafka", "Kafka topic"
        STORAGE = "storage", "Object store"
        SFTP = "sftp", "SFTP file"
        HIVE = "hive", "Hive table"

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        ACTIVE = "active", "Active"
        DEPRECATED = "deprecated", "Deprecated"
        RETIRED = "retired", "Retired"

    class Layer(models.TextChoices):
        SOURCE = "source", "Source"
        CDC = "cdc", "Change capture"
        RAW = "raw", "Raw"
        CORE = "core", "Core"
        MART = "mart", "Mart"

    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="datasets")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    name = models.CharField(max_length=1000, help_text="The whole name as one value, such as schema.table.")
    object_kind = models.CharField(max_length=32, blank=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.DRAFT)
    layer = models.CharField(max_length=16, choices=Layer.choices, blank=True)
    location = models.JSONField(default=dict)
    compatibility = models.CharField(max_length=24, choices=Compatibility.choices, default=Compatibility.NONE)
    current_schema = models.ForeignKey(
        "registry.DatasetSchema", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    source_comment = models.TextField(blank=True)

    description = models.TextField(blank=True)
    owner = models.CharField(max_length=255, blank=True)
    tags = models.JSONField(default=list, blank=True)
    extra = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["system_id", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "name"], condition=ALIVE, name="registry_dataset_name_once"
            ),
        ]
        indexes = [models.Index(fields=["status", "system"], name="registry_dataset_status")]

    def __str__(self) -> str:
        return self.name


class Field(Editable):
    """One row is the lasting identity of a field, whatever it is called in which version.

    Names and types of a version are on its bindings; `name` and `path` here are the present ones.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="fields")
    parent = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="children"
    )
    name = models.CharField(max_length=1000)
    path = models.CharField(max_length=4000)
    retired_at = models.DateTimeField(null=True, blank=True, help_text="Since when no version holds it.")

    source_comment = models.TextField(blank=True)

    description = models.TextField(blank=True)
    owner = models.CharField(max_length=255, blank=True)
    tags = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["dataset_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "path"],
                condition=Q(retired_at__isnull=True),
                name="registry_field_path_once",
            )
        ]

    def __str__(self) -> str:
        return self.path
