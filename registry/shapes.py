"""How sampled values looked: counts of shapes by field. The only writer of FieldShapes; no value ever comes here."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from registry.models import FieldShapes
from registry.pii import Evidence


@transaction.atomic
def keep(counted: Mapping[int, Evidence]) -> None:
    """Keep the counts of these fields in place of older ones."""
    now = timezone.now()
    FieldShapes.objects.bulk_create(
        [
            FieldShapes(
                field_id=field_id,
                counts={str(shape): int(count) for shape, count in sorted(evidence.shapes.items())},
                sampled=evidence.sampled,
                sampled_at=now,
            )
            for field_id, evidence in sorted(counted.items())
        ],
        update_conflicts=True,
        unique_fields=["field"],
        update_fields=["counts", "sampled", "sampled_at"],
        batch_size=500,
    )


def forget(system_id: int) -> int:
    """Drop what is known of a system's values, such as when it no longer lets them be looked at."""
    return FieldShapes.objects.filter(field__dataset__system_id=system_id).delete()[0]
