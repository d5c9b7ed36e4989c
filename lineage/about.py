"""Which metadata events are about a dataset: those whose resource is one of the names it goes by."""

from __future__ import annotations

from django.db.models import QuerySet

from lineage.models import Event, NodeName
from registry.models import Dataset

MOST_NAMES = 100


def names_of(dataset: Dataset) -> list[str]:
    """What an event may call it: its name, with its system before it, and the names that pipelines use."""
    code = dataset.system.code
    own = [dataset.name, f"{code}/{dataset.name}", f"{code}.{dataset.name}"]
    given = NodeName.objects.filter(node__dataset=dataset).values_list("namespace", "name")[:MOST_NAMES]
    return list(dict.fromkeys([*own, *(f"{namespace}/{name}" for namespace, name in given)]))


def events_of(dataset: Dataset) -> QuerySet[Event]:
    """The events about a dataset, newest first, by the index over resources."""
    return Event.objects.filter(resource__in=names_of(dataset)).order_by("-happened_at", "-pk")
