"""Type catalogues in the database: seeds go in, `catalogue_for` gives them out. The only loader of seeded rows."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.db import models, transaction
from django.db.models import Count, Max

from aide.audit.entries import Entry, record
from registry.models import DataType, SystemFlavor, SystemKind
from registry.seeding import FlavorSeed, KindSeed, Seed, SeedInvalid
from registry.typesystem import Catalogue, Example, Slot, TypeDef

_lock = threading.Lock()
_kept: dict[str, tuple[Any, Catalogue]] = {}


@dataclass(frozen=True)
class Counts:
    """What a load did to the rows of one table, or of all."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    restored: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def __str__(self) -> str:
        return ", ".join(f"{getattr(self, each.name)} {each.name}" for each in fields(self))


def catalogue_for(flavor: str) -> Catalogue:
    """The types of a flavor as the database has them now; empty for a flavor without types.

    One small query finds out whether the kept catalogue is still right.
    """
    rows = DataType.objects.alive().filter(flavor__code=flavor, flavor__deleted_at__isnull=True)
    mark = tuple(
        rows.aggregate(Count("id"), Max("updated_at"), models.Sum("row_version"), Max("id")).values()
    )
    kept = _kept.get(flavor)
    if kept is not None and kept[0] == mark:
        return kept[1]
    made = Catalogue(flavor, tuple(typedef_of(row, flavor=flavor) for row in rows.order_by("id")))
    with _lock:
        _kept[flavor] = (mark, made)
    return made


def typedef_of(row: DataType, *, flavor: str) -> TypeDef:
    """A row as the pure type system takes it."""
    return TypeDef(
        flavor=flavor,
        code=row.code,
        name=row.name,
        category=row.category,
        logical_type=row.logical_type,
        kind=row.kind,
        aliases=tuple(each for each in row.aliases if isinstance(each, str)),
        slots=tuple(Slot.read(each) for each in row.slots),
        params_schema=row.params_schema,
        render_template=row.render_template or None,
        examples=tuple(
            Example.read(each) for each in row.examples if isinstance(each, Mapping) and "sql" in each
        ),
    )


class _DryRun(Exception):  # noqa: N818 - never seen outside: it undoes the transaction
    pass


def load(seeds: Iterable[Seed], *, dry_run: bool = False) -> dict[str, Counts]:
    """Brings the rows in line with the seeds, by code, in one transaction; rows of no seed stay as they are.

    Returns the counts for kinds, flavors and types. A soft-deleted row of a seed comes back. Raises `SeedInvalid`
    for a flavor of an unknown kind.
    """
    counts: dict[str, Counts] = {}
    try:
        with transaction.atomic():
            seeds = tuple(seeds)
            counts["kinds"] = _load_kinds({kind.code: kind for seed in seeds for kind in seed.kinds})
            counts["flavors"] = _sum(_load_flavors(seed) for seed in seeds)
            counts["types"] = _sum(_load_types(seed) for seed in seeds)
            if dry_run:
                raise _DryRun
            _announce(counts)
    except _DryRun:
        pass
    return counts


def _announce(counts: Mapping[str, Counts]) -> None:
    """One audit entry for a load that changed anything."""
    after = {what: asdict(each) for what, each in counts.items() if each != Counts(unchanged=each.unchanged)}
    if after:
        record(Entry(action="catalogue.seed", object_type="catalogue", object_id=None,
                     object_name="Type catalogues", after=after))  # fmt: skip


def _load_kinds(kinds: Mapping[str, KindSeed]) -> Counts:
    return _bring(SystemKind, {}, {code: {"name": kind.name} for code, kind in kinds.items()})


def _load_flavors(seed: Seed) -> Counts:
    kinds = {kind.code: kind for kind in SystemKind.objects.alive()}
    return _bring(
        SystemFlavor, {}, {flavor.code: _flavor_values(seed, flavor, kinds) for flavor in seed.flavors}
    )


def _flavor_values(seed: Seed, flavor: FlavorSeed, kinds: Mapping[str, SystemKind]) -> dict[str, Any]:
    if flavor.kind not in kinds:
        raise SeedInvalid(seed.file, f"flavor {flavor.code}", f"there is no kind {flavor.kind}")
    return {
        "name": flavor.name,
        "kind": kinds[flavor.kind],
        "vendor": flavor.vendor,
        "versions": list(flavor.versions),
        "sqlalchemy_dialects": list(flavor.sqlalchemy_dialects),
    }


def _load_types(seed: Seed) -> Counts:
    if not seed.types:
        return Counts()
    flavor = SystemFlavor.objects.alive().get(code=seed.flavors[0].code)
    return _bring(DataType, {"flavor": flavor}, {each.code: _type_values(each) for each in seed.types})


def _type_values(typedef: TypeDef) -> dict[str, Any]:
    return {
        "name": typedef.name,
        "category": typedef.category,
        "logical_type": typedef.logical_type,
        "kind": typedef.kind,
        "params_schema": dict(typedef.params_schema),
        "render_template": typedef.render_template or "",
        "slots": [slot.name if slot.required else asdict(slot) for slot in typedef.slots],
        "aliases": list(typedef.aliases),
        "examples": [
            {key: value for key, value in asdict(each).items() if value or key == "params"}
            for each in typedef.examples
        ],
    }


def _bring(model: type[models.Model], scope: dict[str, Any], wanted: Mapping[str, dict[str, Any]]) -> Counts:
    rows: dict[str, Any] = {}
    manager: Any = model._default_manager
    for row in manager.filter(code__in=list(wanted), **scope).order_by("id"):
        kept = rows.get(row.code)
        if kept is None or kept.is_deleted:
            rows[row.code] = row
    counts = Counts()
    for code, values in wanted.items():
        row = rows.get(code)
        if row is None:
            manager.create(code=code, **scope, **values)
            counts = replace(counts, inserted=counts.inserted + 1)
            continue
        changed = [name for name, value in values.items() if getattr(row, name) != value]
        if row.is_deleted:
            row.deleted_at = row.deleted_by = None
            changed += ["deleted_at", "deleted_by"]
            counts = replace(counts, restored=counts.restored + 1)
        elif changed:
            counts = replace(counts, updated=counts.updated + 1)
        else:
            counts = replace(counts, unchanged=counts.unchanged + 1)
            continue
        for name, value in values.items():
            setattr(row, name, value)
        row.row_version += 1
        row.save(update_fields=[*changed, "row_version", "updated_at"])
    return counts


def _sum(each: Iterable[Counts]) -> Counts:
    total = Counts()
    for counts in each:
        total = total.plus(counts)
    return total
