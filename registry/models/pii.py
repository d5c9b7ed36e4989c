"""Personal data: the vocabulary, the rules of admins, and which field carries which tag since when."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from aide.core.models import Editable, SoftDeletable, Timestamped
from registry.models.datasets import Dataset, Field
from registry.models.systems import ALIVE, code_validator


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


class PIIRule(Editable, SoftDeletable):
    """One row is a rule of an admin's: a rule of its own, or, with a shipped rule's code, its switch."""

    code = models.CharField(max_length=64, validators=[code_validator])
    tag = models.ForeignKey(PIITag, on_delete=models.PROTECT, related_name="rules", null=True, blank=True)
    words = models.JSONField(default=list, blank=True, help_text="Words of names that it looks for.")
    vetoes = models.JSONField(default=list, blank=True, help_text="Words of names that speak against it.")
    types = models.JSONField(
        default=list, blank=True, help_text="Families of types that it accepts; none: usual."
    )
    confidence = models.FloatField(default=0.8, validators=[MinValueValidator(0), MaxValueValidator(1)])
    is_active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(
        default=1, editable=False, help_text="One more with each change of what it finds."
    )

    class Meta:
        ordering = ["code"]
        verbose_name = "PII rule"
        constraints = [
            models.UniqueConstraint(fields=["code"], condition=ALIVE, name="registry_piirule_code_once"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="registry_piirule_confidence_0_to_1"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class FieldTag(Timestamped):
    """One row is a closed interval: this tag on this field, in this state, since then until then.

    A suggestion is nobody's decision, and every other state is a person's; the database holds both.
    """

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
    native_type = models.TextField(
        blank=True, default="", help_text="The field's type when it was suggested."
    )
    name_only = models.BooleanField(default=False, help_text="Nothing but the name speaks for it.")
    path = models.JSONField(
        default=list, blank=True, help_text="The columns by which it came, from its source."
    )
    returned = models.TextField(
        blank=True, default="", help_text="Why it is asked again after it was said no to."
    )
    taken_back = models.BooleanField(default=False, help_text="A person no longer stands by this no.")
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    second_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    removal_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    removal_at = models.DateTimeField(null=True, blank=True)
    removal_reason = models.TextField(blank=True, default="")
    batch = models.CharField(max_length=64, blank=True, default="", help_text="The act that made the row.")
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
            models.CheckConstraint(
                condition=~Q(state__in=["rejected", "removed"])
                | Q(decided_by__isnull=False, decided_at__isnull=False),
                name="registry_fieldtag_refused_by_a_person",
            ),
            models.CheckConstraint(
                condition=~Q(state="suggested") | Q(decided_by__isnull=True, decided_at__isnull=True),
                name="registry_fieldtag_suggested_by_nobody",
            ),
            models.CheckConstraint(
                condition=~Q(state="rejected") | ~Q(reason=""),
                name="registry_fieldtag_rejected_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(second_by__isnull=True) | ~Q(second_by=F("decided_by")),
                name="registry_fieldtag_second_is_another",
            ),
            models.CheckConstraint(
                condition=Q(removal_by__isnull=True, removal_at__isnull=True)
                | Q(removal_by__isnull=False, removal_at__isnull=False, state="confirmed"),
                name="registry_fieldtag_removal_of_confirmed",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "tag", "origin", "rule"],
                condition=Q(until__isnull=True),
                name="registry_fieldtag_open",
            ),
            models.Index(fields=["batch"], condition=~Q(batch=""), name="registry_fieldtag_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.field_id}: {self.state}"


class FieldShapes(models.Model):
    """One row is how a field's sampled values looked: counts of shapes, never a value."""

    field = models.OneToOneField(Field, on_delete=models.CASCADE, related_name="shapes", primary_key=True)
    counts = models.JSONField(default=dict)
    sampled = models.PositiveIntegerField()
    sampled_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"shapes of {self.field_id}"


class TagScan(models.Model):
    """One row says which rules last looked at a dataset, at which version of it."""

    dataset = models.OneToOneField(
        Dataset, on_delete=models.CASCADE, related_name="tag_scan", primary_key=True
    )
    rules_version = models.CharField(max_length=64)
    schema = models.ForeignKey("registry.DatasetSchema", on_delete=models.CASCADE, related_name="+")
    scanned_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.dataset_id}: rules {self.rules_version}"
