"""Personal data: the vocabulary, and which field carries which tag since when."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from aide.core.models import Editable, SoftDeletable, Timestamped
from registry.models.datasets import Field
from registry.models.systems import ALIVE


class PIITag(Editable, SoftDeletable):
    """One row is a kind of personal data, such as an e-mail address."""

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    sensitivity = models.PositiveSmallIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(4)], help_text="1 (low) to 4 (highest)."
    )
    regimes = models.JSONField(default=list, blank=True, help_text="Laws and standards it falls under.")

    class Meta:
        ordering = ["code"]
        verbose_name = "PII tag"
        constraints = [
            models.UniqueConstraint(fields=["code"], condition=ALIVE, name="registry_piitag_code_once"),
            models.CheckConstraint(
                condition=Q(sensitivity__gte=1, sensitivity__lte=4), name="registry_piitag_sensitivity_1_to_4"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class FieldTag(Timestamped):
    """One row is a closed interval: this tag on this field, in this state, since then until then."""

    class State(models.TextChoices):
        SUGGESTED = "suggested", "Suggested"
        CONFIRMED = "confirmed", "Confirmed"
        REJECTED = "rejected", "Rejected"
        REMOVED = "removed", "Removed"

    class Origin(models.TextChoices):
        PERSON = "person", "A person"
        RULE = "rule", "A rule"
        LINEAGE = "lineage", "Lineage"
        CONTRACT = "contract", "A contract"

    field = models.ForeignKey(Field, on_delete=models.CASCADE, related_name="field_tags")
    tag = models.ForeignKey(PIITag, on_delete=models.PROTECT, related_name="field_tags")
    state = models.CharField(max_length=16, choices=State.choices)
    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.PERSON)
    confidence = models.FloatField(null=True, blank=True)
    rule = models.CharField(max_length=200, blank=True)
    rule_version = models.CharField(max_length=64, blank=True)
    evidence = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["field_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["field", "tag"],
                condition=Q(until__isnull=True),
                name="registry_fieldtag_one_open_interval",
            ),
            models.CheckConstraint(
                condition=~Q(state="confirmed") | Q(decided_by__isnull=False, decided_at__isnull=False),
                name="registry_fieldtag_confirmed_by_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.field_id}: {self.state}"
