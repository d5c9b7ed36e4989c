"""What arrived from a source, and what a steward decided about it."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models

from aide.core.models import Editable, Timestamped
from registry.models import Dataset, DatasetSchema, System


class CrawlPlan(Editable):
    """One row is a schedule: when a system is crawled, within which scope, and what needs no person."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="crawl_plans")
    scope = models.JSONField(default=dict, blank=True)
    cron = models.CharField(max_length=120, help_text="Five fields: minute hour day month weekday.")
    time_zone = models.CharField(max_length=64, default="UTC")
    is_active = models.BooleanField(default=True)
    auto_approve = models.JSONField(
        default=list, blank=True, help_text="Risk classes that need no person; none unless named."
    )
    next_due_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["system__code", "id"]

    def __str__(self) -> str:
        return f"{self.system.code}: {self.cron}"


class CrawlRunQuerySet(models.QuerySet["CrawlRun"]):
    def brief(self) -> Self:
        """Without what grows with the source: the report and the coverage."""
        return self.defer("report", "coverage")


class CrawlRun(models.Model):
    """One row is one look at a source, with how it went and what it found."""

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        CANCELLING = "cancelling", "Cancelling"
        COMPLETED = "completed", "Completed"
        COMPLETED_WITH_ERRORS = "completed_with_errors", "Completed with errors"
        FAILED = "failed", "Failed"
        LOST = "lost", "Lost"
        CANCELLED = "cancelled", "Cancelled"

    ACTIVE = (Status.QUEUED, Status.RUNNING, Status.CANCELLING)
    LOOKED = (Status.COMPLETED, Status.COMPLETED_WITH_ERRORS)

    class Trigger(models.TextChoices):
        PERSON = "person", "A person"
        API = "api", "API"
        COMMAND = "command", "Command line"
        SCHEDULE = "schedule", "Schedule"
        SNAPSHOT = "snapshot", "An uploaded snapshot"

    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="crawl_runs")
    plan = models.ForeignKey(CrawlPlan, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs")
    trigger = models.CharField(max_length=16, choices=Trigger.choices)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=24, choices=Status.choices, default=Status.QUEUED)
    dry_run = models.BooleanField(default=False)
    config = models.JSONField(default=dict, blank=True, help_text="The scope asked for.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    retry_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    current_object = models.CharField(max_length=2000, blank=True)
    schemas_total = models.PositiveIntegerField(default=0)
    schemas_done = models.PositiveIntegerField(default=0)
    tables_total = models.PositiveIntegerField(default=0)
    tables_done = models.PositiveIntegerField(default=0)

    database = models.CharField(max_length=500, blank=True, help_text="The database that was looked at.")
    coverage = models.JSONField(default=dict, blank=True)
    summary = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True)
    warnings = models.JSONField(default=list, blank=True, help_text="Sentences that a steward must see.")
    timings = models.JSONField(default=dict, blank=True, help_text="Seconds a phase.")
    error = models.TextField(blank=True, help_text="One plain sentence.")
    error_code = models.CharField(max_length=64, blank=True)

    objects = CrawlRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["system"],
                condition=models.Q(status__in=["queued", "running", "cancelling"]),
                name="crawling_crawlrun_one_active_a_system",
            )
        ]
        indexes = [models.Index(fields=["status", "-id"], name="crawling_run_status")]

    def __str__(self) -> str:
        return f"run {self.pk}"


class Observation(Timestamped):
    """One row is the last document seen at the source for one dataset, written only when it changed."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="observations")
    dataset_name = models.CharField(max_length=1000)
    document = models.JSONField()
    content_hash = models.CharField(max_length=64)
    first_run = models.ForeignKey(CrawlRun, on_delete=models.PROTECT, related_name="+")
    changed_run = models.ForeignKey(CrawlRun, on_delete=models.PROTECT, related_name="+")
    gone_at = models.DateTimeField(null=True, blank=True)
    settled = models.CharField(max_length=64, blank=True, help_text="A mark of the version that says so.")

    class Meta:
        ordering = ["system_id", "dataset_name"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "dataset_name"], name="crawling_observation_dataset_once"
            )
        ]

    def __str__(self) -> str:
        return self.dataset_name


class Proposal(Timestamped):
    """One row is what one source says about one dataset: a list of changes that wait for people."""

    class Origin(models.TextChoices):
        CRAWL = "crawl", "Crawl"
        CONTRACT = "contract", "Contract"
        CHARTDB = "chartdb", "ChartDB"
        MANUAL = "manual", "By hand"
        TAG = "tag", "Tag"

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        PARTLY_APPLIED = "partly_applied", "Partly applied"
        APPLIED = "applied", "Applied"
        REJECTED = "rejected", "Rejected"
        SUPERSEDED = "superseded", "Superseded"

    LIVE = (Status.OPEN, Status.PARTLY_APPLIED)

    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="proposals")
    dataset = models.ForeignKey(
        Dataset, on_delete=models.PROTECT, null=True, blank=True, related_name="proposals"
    )
    dataset_name = models.CharField(
        max_length=1000, help_text="The registry's name; the source's for a new dataset."
    )
    origin = models.CharField(max_length=16, choices=Origin.choices)
    crawl_run = models.ForeignKey(
        CrawlRun, on_delete=models.PROTECT, null=True, blank=True, related_name="proposals"
    )
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    base_version = models.ForeignKey(
        DatasetSchema, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    observation = models.ForeignKey(
        Observation, on_delete=models.SET_NULL, null=True, blank=True, related_name="proposals"
    )
    document = models.JSONField(
        null=True, blank=True, help_text="What is proposed, whole, where no crawl observed it."
    )
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.OPEN)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="supersedes"
    )
    comment = models.TextField(blank=True)
    batch = models.CharField(
        max_length=32, blank=True, db_index=True, help_text="What was brought together is reviewed together."
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "dataset_name", "origin"],
                condition=models.Q(status__in=["open", "partly_applied"], origin="crawl"),
                name="crawling_proposal_one_live_a_dataset",
            )
        ]
        indexes = [models.Index(fields=["status", "system"], name="crawling_proposal_status")]

    def __str__(self) -> str:
        return f"{self.dataset_name}: {self.get_status_display()}"


class Change(models.Model):
    """One row is one difference that a person can approve or reject by itself."""

    class Op(models.TextChoices):
        ADD_DATASET = "add_dataset", "Dataset added"
        DROP_DATASET = "drop_dataset", "Dataset dropped"
        RENAME_DATASET = "rename_dataset", "Dataset renamed"
        MOVE_DATASET = "move_dataset", "Dataset moved"
        CHANGE_KIND = "change_kind", "Kind changed"
        ADD_FIELD = "add_field", "Column added"
        DROP_FIELD = "drop_field", "Column dropped"
        RENAME_FIELD = "rename_field", "Column renamed"
        CHANGE_TYPE = "change_type", "Type changed"
        CHANGE_PARAMETERS = "change_parameters", "Type parameters changed"
        CHANGE_NULLABLE = "change_nullable", "Nullability changed"
        CHANGE_DEFAULT = "change_default", "Default changed"
        CHANGE_COMMENT = "change_comment", "Comment changed"
        CHANGE_GENERATED = "change_generated", "Generated expression changed"
        CHANGE_IDENTITY = "change_identity", "Identity changed"
        CHANGE_ON_UPDATE = "change_on_update", "On-update rule changed"
        CHANGE_PRIMARY_KEY = "change_primary_key", "Primary key changed"
        CHANGE_FOREIGN_KEY = "change_foreign_key", "Foreign key changed"
        ADD_UNIQUE = "add_unique", "Unique key added"
        DROP_UNIQUE = "drop_unique", "Unique key dropped"

    class Risk(models.TextChoices):
        SAFE = "safe", "Safe"
        RISKY = "risky", "Risky"
        BREAKING = "breaking", "Breaking"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        WAITING = "waiting", "Waits for a second person"
        APPLIED = "applied", "Applied"
        REJECTED = "rejected", "Rejected"
        STALE = "stale", "Stale"

    UNDECIDED = (State.OPEN, State.WAITING, State.STALE)

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="changes")
    place = models.PositiveIntegerField(help_text="Order within the proposal.")
    op = models.CharField(max_length=24, choices=Op.choices)
    dataset_name = models.CharField(max_length=1000)
    field_path = models.CharField(max_length=4000, blank=True)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    risk = models.CharField(max_length=16, choices=Risk.choices)
    why = models.TextField()
    rule = models.CharField(max_length=64)
    evidence = models.JSONField(default=list, blank=True)
    fingerprint = models.CharField(max_length=64)
    touches_pii = models.BooleanField(default=False)
    paired_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who split or paired it; that person cannot be its second one.",
    )
    requires = models.ManyToManyField("self", symmetrical=False, related_name="required_by", blank=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.OPEN)
    applied_version = models.ForeignKey(
        DatasetSchema, on_delete=models.PROTECT, null=True, blank=True, related_name="applied_changes"
    )

    class Meta:
        ordering = ["proposal_id", "place"]
        constraints = [
            models.UniqueConstraint(fields=["proposal", "place"], name="crawling_change_place_once")
        ]
        indexes = [
            models.Index(fields=["state", "risk"], name="crawling_change_state_risk"),
            models.Index(fields=["fingerprint"], name="crawling_change_fingerprint"),
        ]

    def __str__(self) -> str:
        return f"{self.get_op_display()}: {self.field_path or self.dataset_name}"


class Pairing(Timestamped):
    """One row is a person's word on a gone and a new thing: one renamed, or two. It holds while both are so."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="pairings")
    dataset_name = models.CharField(max_length=1000, help_text="The registry's name.")
    field_path = models.CharField(max_length=4000, blank=True, help_text="The gone one; empty: the dataset.")
    new_name = models.CharField(max_length=1000)
    is_same = models.BooleanField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["system", "dataset_name"], name="crawling_pairing_dataset")]

    def __str__(self) -> str:
        return f"{self.field_path or self.dataset_name}, {self.new_name}: {'one' if self.is_same else 'two'}"


class Comment(Timestamped):
    """One row is what a person said about a change."""

    change = models.ForeignKey(Change, on_delete=models.CASCADE, related_name="comments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(max_length=2000)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"comment on change {self.change_id}"


class Verdict(models.TextChoices):
    APPROVE = "approve", "Approve"
    REJECT = "reject", "Reject"


class RejectMode(models.TextChoices):
    ONCE = "once", "This time only"
    MUTE = "mute", "Mute until the source changes"
    EXCLUDE = "exclude", "Exclude this object from crawls"


class Draft(Timestamped):
    """One row is a decision someone has noted but not carried out; the latest one a change stands."""

    change = models.OneToOneField(Change, on_delete=models.CASCADE, related_name="draft")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    mode = models.CharField(max_length=8, choices=RejectMode.choices, blank=True)
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.verdict} change {self.change_id}"


class Decision(models.Model):
    """One row is a decision as carried out: who, as which person, what, why and when. Append-only."""

    change = models.ForeignKey(Change, on_delete=models.PROTECT, related_name="decisions")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: a plan's auto-approval.",
    )
    order = models.PositiveSmallIntegerField(help_text="1 for the first person, 2 for the second.")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    mode = models.CharField(max_length=8, choices=RejectMode.choices, blank=True)
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["change", "order"], name="crawling_decision_order_once"),
            models.UniqueConstraint(
                fields=["change", "person"],
                condition=models.Q(verdict="approve"),
                name="crawling_decision_two_persons",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} change {self.change_id}"


class Mute(Timestamped):
    """One row is a rejected difference that is not asked about again while the source keeps it."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="mutes")
    dataset_name = models.CharField(max_length=1000)
    field_path = models.CharField(max_length=4000, blank=True)
    op = models.CharField(max_length=24, choices=Change.Op.choices)
    fingerprint = models.CharField(max_length=64)
    mode = models.CharField(max_length=8, choices=RejectMode.choices)
    change = models.ForeignKey(Change, on_delete=models.PROTECT, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "dataset_name", "fingerprint"],
                condition=models.Q(lifted_at__isnull=True),
                name="crawling_mute_difference_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.op} {self.field_path or self.dataset_name}"
