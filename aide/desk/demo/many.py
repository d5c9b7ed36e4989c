"""The demo in medium: so many more systems that there are 5,000 datasets with 150,000 fields. Only the demo uses it.

Written in bulk, by the rule that publishes versions.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.utils import timezone

from aide.audit import chain
from aide.audit.entries import Entry, record
from aide.desk.demo import nights, personal
from aide.desk.demo.accounts import people
from aide.desk.demo.clock import Clock
from aide.desk.demo.edits import edited
from aide.desk.demo.tables import Document
from crawling.baseline import baseline
from lineage.models import OutboxMessage
from registry import documents, locations, reading, versions
from registry.models import Dataset, Field, System, SystemFlavor

DATASETS = 5_000
FIELDS = 150_000
A_SYSTEM = 500
WIDE = 500
"""One of the datasets has so many fields, and a second version in which every tenth of them differs."""
REVIEWED = 100
"""So many datasets of the last system have five changes each that wait: a review of 500 changes."""
PREFIX = "erp-"
AREAS = ("sales", "stock", "purchase", "plant", "quality", "payroll", "travel", "fleet", "energy", "legal")
THINGS = (
    "order",
    "item",
    "plan",
    "batch",
    "place",
    "rule",
    "step",
    "cost",
    "limit",
    "task",
    "asset",
    "route",
    "offer",
)
WORDS = (
    "code",
    "state",
    "group",
    "amount",
    "weight",
    "line",
    "level",
    "count",
    "sort",
    "band",
    "class",
    "share",
)
NATIVE = (
    "character varying(40)",
    "integer",
    "numeric(12,2)",
    "boolean",
    "text",
    "bigint",
    "date",
    "smallint",
)


def are_there() -> bool:
    """Whether the systems are in this database."""
    return System.objects.filter(code__startswith=PREFIX).exists()


def fill(*, seed: int) -> None:
    """Make as many datasets and fields as are missing."""
    chance = random.Random(seed)  # noqa: S311
    left = DATASETS - Dataset.objects.alive().count()
    fields = FIELDS - Field.objects.filter(retired_at__isnull=True).count()
    by = people()["engineer"]
    sizes = _sizes(left, fields)
    for number in range(-(-left // A_SYSTEM)):
        with transaction.atomic():
            system = _system(number, by=by)
            some = [next(sizes) for _ in range(min(A_SYSTEM, left - number * A_SYSTEM))]
            versions.publish_many(
                [
                    versions.Publication(each, name=locations.dataset_name(each), location=_location(each))
                    for each in (_document(number, place, size, chance) for place, size in enumerate(some))
                ],
                system=system,
                by=by,
                origin="api",
            )
    _change_the_wide_one(by=by)
    _find_changes()
    OutboxMessage.objects.filter(status=OutboxMessage.Status.PENDING).delete()
    personal.settle()
    while chain.seal():
        pass


def _change_the_wide_one(*, by: Any) -> None:
    wide = Dataset.objects.get(system__code=f"{PREFIX}{AREAS[0]}", name=f"{AREAS[0]}.{THINGS[0]}_000")
    assert wide.current_schema is not None
    document = reading.document_of(wide.current_schema)
    names = [each["name"] for each in document["fields"]][10::10]
    edits = [edit for name in names[::2] for edit in (f"drop {name}", f"add new_{name} varchar(40)")]
    edits += [f"type {name} text" for name in names[1::2]]
    document = edited(document, edits, flavor="postgresql")
    publication = versions.Publication(document, dataset=wide, reason="The new release of the ERP.")
    versions.publish(publication, system=wide.system, by=by, origin="api")


def _find_changes() -> None:
    """A crawl of the last system, after its developers changed a hundred tables."""
    system = System.objects.filter(code__startswith=PREFIX).latest("pk")
    found = {name: dict(each.document) for name, each in baseline(system).items()}
    for name in sorted(found)[:REVIEWED]:
        first, second, third, *_, last = (each["name"] for each in found[name]["fields"])
        edits = [f"comment {first} The key", f"comment {second} Since the last release", f"required {third}"]
        edits += [f"drop {last}", "add release_note varchar(80)"]
        found[name] = edited(found[name], edits, flavor="postgresql")
    now = timezone.now()
    nights.look(system, found, at=now, clock=Clock(now), database="erp")


def _sizes(datasets: int, fields: int) -> Iterator[int]:
    """How many fields each dataset has: one is wide, the others share the rest."""
    yield WIDE
    small, more = divmod(fields - WIDE, datasets - 1)
    for number in range(datasets - 1):
        yield small + (number < more)


def _system(number: int, *, by: Any) -> System:
    system = System(
        code=f"{PREFIX}{AREAS[number % len(AREAS)]}",
        name=f"ERP {AREAS[number % len(AREAS)]}",
        flavor=SystemFlavor.objects.get(code="postgresql", deleted_at__isnull=True),
        environment="production",
        owner="ERP team",
        tags=["demo"],
    )
    system.full_clean()
    system.save()
    record(Entry("system.create", "system", system.pk, system.code, system_code=system.code), by=by)
    return system


def _document(system: int, place: int, size: int, chance: random.Random) -> Document:
    thing = THINGS[place % len(THINGS)]
    fields = [{"name": f"{thing}_id", "native_type": "bigint", "nullable": False}]
    for number in range(1, size):
        word = WORDS[number % len(WORDS)]
        fields.append({"name": f"{word}_{number}", "native_type": chance.choice(NATIVE)})
    return documents.clean(
        {
            "schema": AREAS[system % len(AREAS)],
            "name": f"{thing}_{place:03}",
            "comment": f"{thing.title()} data of the ERP",
            "fields": fields,
            "primary_key": {"name": None, "columns": [f"{thing}_id"]},
        }
    )


def _location(document: Document) -> dict[str, str]:
    return {"database": "erp", "schema": document["schema"], "table": document["name"]}
