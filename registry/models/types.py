"""The type catalogue: which types a technology has, their parameters and how they are written."""

from __future__ import annotations

from django.db import models

from aide.core.models import Editable, SoftDeletable
from registry.models.systems import ALIVE, SystemFlavor


class DataType(Editable, SoftDeletable):
    """One row is a native type of one technology, such as PostgreSQL's numeric."""

    flavor = models.ForeignKey(SystemFlavor, on_delete=models.PROTECT, related_name="data_types")
    code = models.CharField(max_length=128)
    name = models.CharField(max_length=200)
    category = models.CharField(max_length=64, blank=True)
    logical_type = models.CharField(
        max_length=64, blank=True, help_text="The family that casts between technologies start from."
    )
    kind = models.CharField(max_length=32, blank=True)
    params_schema = models.JSONField(default=dict, blank=True, help_text="JSON Schema 2020-12.")
    render_template = models.TextField(
        blank=True, help_text="Sandboxed Jinja2; empty if it cannot stand alone."
    )
    slots = models.JSONField(default=list, blank=True)
    aliases = models.JSONField(default=list, blank=True)
    examples = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["flavor__code", "code"]
        constraints = [
            models.UniqueConstraint(
                fields=["flavor", "code"], condition=ALIVE, name="registry_datatype_code_once"
            )
        ]

    def __str__(self) -> str:
        return self.name


class CastRule(Editable, SoftDeletable):
    """One row says what a type becomes in another technology, instead of what would be derived."""

    class Safety(models.TextChoices):
        LOSSLESS = "lossless", "Lossless"
        LOSSY = "lossy", "Lossy"
        UNSAFE = "unsafe", "Unsafe"

    source_data_type = models.ForeignKey(DataType, on_delete=models.PROTECT, related_name="casts_from")
    target_data_type = models.ForeignKey(DataType, on_delete=models.PROTECT, related_name="casts_to")
    param_mapping = models.JSONField(
        default=dict,
        blank=True,
        help_text='Parameters of the target: {"precision": "@precision", "scale": 2}; @ copies one of the source.',
    )
    safety = models.CharField(max_length=16, choices=Safety.choices, default=Safety.LOSSY)
    template = models.TextField(
        blank=True,
        help_text="Sandboxed Jinja2 that converts a value, with column, type and the target's parameters.",
    )

    class Meta:
        ordering = ["source_data_type_id", "target_data_type_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["source_data_type", "target_data_type"],
                condition=ALIVE,
                name="registry_castrule_pair_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source_data_type} to {self.target_data_type}"
