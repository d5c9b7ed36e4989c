"""How fields changed from version to version, by their lasting identity. Reads only; anybody may use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from registry.models import DatasetSchema, Field, FieldBinding


@dataclass(frozen=True)
class Difference:
    """One property of a field that was one thing and is now another, in words."""

    what: str
    was: str
    now: str


@dataclass(frozen=True)
class Step:
    """A version in which a field came or changed."""

    schema: DatasetSchema
    binding: FieldBinding
    differences: tuple[Difference, ...]
    is_first: bool


@dataclass(frozen=True)
class FieldPair:
    """One field in two versions; it is added without a `before` and removed without an `after`."""

    field_id: int
    path: str
    before: FieldBinding | None
    after: FieldBinding | None
    differences: tuple[Difference, ...] = field(default=())

    @property
    def state(self) -> str:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return "changed" if self.differences else "same"

    @property
    def type_words(self) -> str:
        """The type it came with or went with; for a field in both, the newer one."""
        binding = self.after or self.before
        return type_of(binding) if binding else ""


def steps_of(subject: Field) -> list[Step]:
    """The published versions in which the field came or changed, the newest first."""
    rows = (
        FieldBinding.objects.filter(field=subject, dataset_schema__status=DatasetSchema.Status.PUBLISHED)
        .select_related("type_instance__data_type", "dataset_schema__published_by")
        .order_by("dataset_schema__version_num")
    )
    steps: list[Step] = []
    before: FieldBinding | None = None
    for row in rows:
        differing = differences(before, row) if before else ()
        if before is None or differing:
            steps.append(Step(row.dataset_schema, row, differing, before is None))
        before = row
    return steps[::-1]


def latest_binding(subject: Field) -> FieldBinding | None:
    """The field as it stands in the newest published version that holds it."""
    return (
        FieldBinding.objects.filter(field=subject, dataset_schema__status=DatasetSchema.Status.PUBLISHED)
        .select_related("type_instance__data_type", "dataset_schema")
        .order_by("-dataset_schema__version_num")
        .first()
    )


def pairs(before: Iterable[FieldBinding], after: Iterable[FieldBinding]) -> list[FieldPair]:
    """Both versions' fields matched by identity, in the order of the newer one; what is gone comes last."""
    old = {row.field_id: row for row in before}
    new = {row.field_id: row for row in after}
    old_paths, new_paths = paths(old.values()), paths(new.values())
    found = []
    for field_id, row in new.items():
        past = old.get(field_id)
        differing = differences(past, row) if past else ()
        found.append(FieldPair(field_id, new_paths[field_id], past, row, differing))
    gone = (field_id for field_id in old if field_id not in new)
    found += [FieldPair(field_id, old_paths[field_id], old[field_id], None) for field_id in gone]
    return found


def paths(bindings: Iterable[FieldBinding]) -> dict[int, str]:
    """The readable path of each field of one version, by field id."""
    rows = {row.field_id: row for row in bindings}

    def path(row: FieldBinding, depth: int = 0) -> str:
        parent = rows.get(row.parent_field_id) if row.parent_field_id else None
        return f"{path(parent, depth + 1)}.{row.name}" if parent and depth < 100 else row.name

    return {field_id: path(row) for field_id, row in rows.items()}


def differences(before: FieldBinding, after: FieldBinding) -> tuple[Difference, ...]:
    """Everything that differs between two versions of one field."""
    properties: tuple[tuple[str, Any, Any], ...] = (
        ("name", before.name, after.name),
        ("type", type_of(before), type_of(after)),
        ("nullable", "yes" if before.is_nullable else "no", "yes" if after.is_nullable else "no"),
        ("default", before.default, after.default),
        ("primary key", key_of(before), key_of(after)),
        ("source comment", before.comment, after.comment),
        ("generated", before.generated, after.generated),
        ("identity", before.identity, after.identity),
        ("on update", before.on_update, after.on_update),
    )
    return tuple(Difference(what, _words(was), _words(now)) for what, was, now in properties if was != now)


def type_of(binding: FieldBinding) -> str:
    """The type as the registry writes it, else as the source did."""
    instance = binding.type_instance
    return (instance.rendered if instance else "") or binding.native_type


def key_of(binding: FieldBinding) -> str:
    """The column's place in the primary key, in words; empty for others."""
    return f"column {binding.primary_key}" if binding.primary_key else ""


def _words(value: Any) -> str:
    return "none" if value in (None, "", {}) else str(value)
