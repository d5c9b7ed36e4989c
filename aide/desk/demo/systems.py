"""Making the demo's systems: their rows, schedules and stewards, and the datasets that no crawl registers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from aide.audit.entries import Entry, record
from aide.desk.demo.bundled import extra_for
from aide.desk.demo.tables import Document, Source
from crawling.models import CrawlPlan
from crawling.plans import next_due
from registry import locations, versions
from registry.models import Dataset, System, SystemFlavor, SystemNamespace

MINUTES = {
    "pg-crm": 12, "pg-billing": 20, "kafka-events": 28, "s3-lake": 36, "sftp-partners": 44, "hive-dwh": 52,
}  # fmt: skip


@transaction.atomic
def make_system(source: Source, *, by: Any, stewards: tuple[Any, ...], after: datetime) -> System:
    """The system with its namespaces and a nightly schedule, whose next turn is after that moment."""
    values = source.values
    system = System(
        code=source.code,
        name=values["name"],
        flavor=SystemFlavor.objects.get(code=values["flavor"], deleted_at__isnull=True),
        connection_url=values.get("connection_url", ""),
        environment=values["environment"],
        owner=values["owner"],
        tags=["demo"],
        extra=extra_for(source.code, len(source.documents)),
    )
    system.full_clean()
    system.save()
    system.stewards.set(stewards)
    SystemNamespace.objects.bulk_create(
        SystemNamespace(system=system, namespace=each) for each in values["namespaces"]
    )
    cron = f"{MINUTES[source.code]} 2 * * *"
    CrawlPlan.objects.create(system=system, cron=cron, next_due_at=next_due(cron, "UTC", after=after))
    record(Entry("system.create", "system", system.pk, system.code, system_code=system.code), by=by)
    return system


def register(system: System, source: Source, *, by: Any) -> None:
    """What an engineer registered by hand: the datasets of a platform that is no database."""
    versions.publish_many(
        [
            versions.Publication(
                document,
                kind=source.kind,
                name=name,
                location=location_of(source, document),
                reason="Registered with the platform.",
            )
            for name, document in source.documents.items()
        ],
        system=system,
        by=by,
        origin="api",
    )


def location_of(source: Source, document: Document) -> dict[str, Any]:
    """Where a dataset lives: what its name tells, and what holds for the whole system."""
    return {**source.values.get("location", {}), **locations.location_at(source.kind, document)}


def describe(system: System, source: Source) -> None:
    """What people said about its datasets: the layer and the owner."""
    Dataset.objects.filter(system=system).update(layer=source.values["layer"], owner=source.values["owner"])
