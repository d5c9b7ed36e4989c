"""The lineage graph. Only lineage/merging/ and lineage/resolve.py write here."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from registry.models import Dataset, Field

DRAWN_BY_HAND = ("aide", "drawn by hand")
"""Namespace and name of the job that holds the edges people drew."""

DECLARED = ("aide", "declared on the dataset")
"""Namespace and name of the job that holds the edges of events that name no job."""

PRESENT = Q(ended_at__isnull=True)


class Node(models.Model):
    """One row is a dataset that pipelines speak of. It may or may not be a dataset of the registry yet."""

    dataset = models.OneToOneField(
        Dataset, on_delete=models.SET_NULL, null=True, blank=True, related_name="lineage_node"
    )
    namespace = models.TextField(help_text="The name it is shown by, one of its names.")
    name = models.TextField()
    facets = models.JSONField(default=dict, blank=True, help_text="The newest of each facet, with its time.")
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    ended_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last reported dropped; it is back if seen later."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def is_gone(self) -> bool:
        return self.ended_at is not None and self.ended_at >= self.last_seen


class NodeName(models.Model):
    """One row is a name that events use for a node, and how the node was found by it."""

    class Matched(models.TextChoices):
        EXACT = "exact", "Exact name"
        ALIAS = "alias", "Alias by a steward"
        SYMLINK = "symlink", "Linked by an event"
        NORMALISED = "normalised", "Same after normalising"
        UNRESOLVED = "unresolved", "Not in the registry"

    key = models.CharField(max_length=64, unique=True, help_text="sha256 of namespace and name.")
    namespace = models.TextField()
    name = models.TextField()
    canonical = models.CharField(
        max_length=64, default="", help_text="sha256 of namespace and name in normal form."
    )
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="names")
    matched = models.CharField(max_length=10, choices=Matched.choices, default=Matched.UNRESOLVED)
    why = models.CharField(max_length=500, blank=True, help_text="How it matched, in words.")
    bound_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["matched", "id"], name="lineage_nodename_matched"),
            models.Index(fields=["canonical"], name="lineage_nodename_canonical"),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class NodeColumn(models.Model):
    """One row is a column of a node, by the path that events use."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="columns", db_index=False)
    key = models.CharField(max_length=64, help_text="sha256 of the path.")
    path = models.TextField()
    field = models.ForeignKey(Field, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["node", "key"], name="lineage_nodecolumn_once")]

    def __str__(self) -> str:
        return self.path


class Span(models.Model):
    """What every edge has: when events first and last told of it, and whether it is over.

    An edge drawn by hand belongs to the job DRAWN_BY_HAND and is never changed by events.
    """

    class Origin(models.TextChoices):
        EVENT = "event", "Reported"
        MANUAL = "manual", "Drawn by hand"

    origin = models.CharField(max_length=6, choices=Origin.choices, default=Origin.EVENT)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    drawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        abstract = True


class Edge(Span):
    """One row says that `target` is made from `source` by a job, from when to when."""

    source = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="outgoing", db_index=False)
    target = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="incoming", db_index=False)
    job = models.ForeignKey("lineage.Job", on_delete=models.CASCADE, related_name="edges")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "job"], name="lineage_edge_once"),
            models.CheckConstraint(
                condition=Q(first_seen__lte=F("last_seen")), name="lineage_edge_seen_in_order"
            ),
        ]
        indexes = [
            models.Index(fields=["target", "source"], name="lineage_edge_upstream"),
            models.Index(fields=["source", "target"], condition=PRESENT, name="lineage_edge_now_down"),
            models.Index(fields=["target", "source"], condition=PRESENT, name="lineage_edge_now_up"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"


class ColumnEdge(Span):
    """One row says that a column is made from another by a job, and whether its values were masked on the way."""

    source = models.ForeignKey(NodeColumn, on_delete=models.CASCADE, related_name="outgoing", db_index=False)
    target = models.ForeignKey(NodeColumn, on_delete=models.CASCADE, related_name="incoming", db_index=False)
    job = models.ForeignKey("lineage.Job", on_delete=models.CASCADE, related_name="column_edges")
    transformation = models.CharField(
        max_length=100, blank=True, help_text="Type and subtype, such as DIRECT/IDENTITY."
    )
    masking = models.BooleanField(default=False, help_text="Values do not flow on in the clear.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "job"], name="lineage_columnedge_once"),
            models.CheckConstraint(
                condition=Q(first_seen__lte=F("last_seen")), name="lineage_columnedge_seen_in_order"
            ),
        ]
        indexes = [
            models.Index(fields=["target", "source"], name="lineage_columnedge_upstream"),
            models.Index(fields=["source", "target"], condition=PRESENT, name="lineage_columnedge_now_down"),
            models.Index(fields=["target", "source"], condition=PRESENT, name="lineage_columnedge_now_up"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"
