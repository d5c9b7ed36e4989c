"""Abstract models that the apps build on; this app itself has no tables."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.db import models


class Timestamped(models.Model):
    """A row that knows when it was made and last changed."""

    created_at = models.DateTimeField(auto_now_add=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True, editable=False)

    class Meta:
        abstract = True


class Editable(Timestamped):
    """A row that people change: `row_version` grows by one with each change and guards against lost updates."""

    row_version = models.PositiveIntegerField(default=1, editable=False)
    note = models.TextField(blank=True, default="")

    class Meta:
        abstract = True


class SoftDeletableQuerySet(models.QuerySet[Any]):
    def alive(self) -> Self:
        return self.filter(deleted_at__isnull=True)

    def deleted(self) -> Self:
        return self.filter(deleted_at__isnull=False)


class SoftDeletable(models.Model):
    """A row that may be deleted and come back; `objects.alive()` are those that are there."""

    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
    )

    objects = SoftDeletableQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    def deleted_parent(self) -> models.Model | None:
        """Something that this row needs and that is deleted, so that the row cannot come back yet."""
        for field in self._meta.concrete_fields:
            related = field.related_model
            if isinstance(related, type) and issubclass(related, SoftDeletable):
                parent = getattr(self, field.name)
                if parent is not None and parent.is_deleted:
                    return parent
        return None
