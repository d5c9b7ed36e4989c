"""Shared type instances: equal types of a flavor are one row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry import typesystem
from registry.models import DataType, TypeInstance
from registry.typesystem import Catalogue, TypeExpr


@dataclass(frozen=True)
class Shape:
    """What makes a type instance: the canonical type and how the source names it."""

    expr: TypeExpr
    type_name: str
    type_schema: str
    type_kind: str
    parameters_json: str

    def content_hash(self, flavor: str) -> str:
        parts = (
            flavor,
            self.expr.key,
            self.type_name,
            self.type_schema,
            self.type_kind,
            self.parameters_json,
        )
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def shape_of(field: Mapping[str, Any], *, catalogue: Catalogue) -> Shape:
    """The shape of a document's field: the same for all fields with one `typesystem.mark_of`."""
    native = field.get("native_type") or ""
    return Shape(
        expr=typesystem.parse(catalogue, native, field=field),
        type_name=field.get("type_name") or "",
        type_schema=field.get("type_schema") or "",
        type_kind=field.get("type_kind") or "",
        parameters_json=json.dumps(field.get("parameters") or {}, sort_keys=True, ensure_ascii=False),
    )


def shared_instances(shapes: Iterable[Shape], *, catalogue: Catalogue) -> dict[Shape, int]:
    """The id of the instance for each shape; missing ones are made. A constant number of statements."""
    wanted = {shape: shape.content_hash(catalogue.flavor) for shape in set(shapes)}
    ids = _ids(wanted.values())
    missing = [shape for shape, digest in wanted.items() if digest not in ids]
    if missing:
        _create(missing, wanted, catalogue=catalogue)
        ids |= _ids(wanted[shape] for shape in missing)
    return {shape: ids[digest] for shape, digest in wanted.items()}


def _ids(hashes: Iterable[str]) -> dict[str, int]:
    listed = list(hashes)
    found: dict[str, int] = {}
    for start in range(0, len(listed), 500):
        rows = TypeInstance.objects.filter(content_hash__in=listed[start : start + 500])
        found.update((digest or "", pk) for digest, pk in rows.values_list("content_hash", "id"))
    return found


def _create(shapes: list[Shape], hashes: Mapping[Shape, str], *, catalogue: Catalogue) -> None:
    codes = dict(
        DataType.objects.filter(flavor__code=catalogue.flavor, deleted_at__isnull=True).values_list(
            "code", "id"
        )
    )
    roots = [
        TypeInstance(
            data_type_id=codes.get(shape.expr.code or ""),
            type_params=dict(shape.expr.params),
            rendered=shape.expr.rendered,
            type_name=shape.type_name,
            type_schema=shape.type_schema,
            type_kind=shape.type_kind,
            parameters=json.loads(shape.parameters_json),
            content_hash=hashes[shape],
        )
        for shape in shapes
    ]
    TypeInstance.objects.bulk_create(roots, batch_size=500, ignore_conflicts=True)
    ids = _ids(hashes[shape] for shape in shapes if shape.expr.children)
    if ids:
        have_parts = set(
            TypeInstance.objects.filter(parent__in=ids.values()).values_list("parent_id", flat=True)
        )
        parents = [(ids[hashes[s]], s.expr) for s in shapes if s.expr.children]
        _create_parts([pair for pair in parents if pair[0] not in have_parts], codes)


def _create_parts(parents: list[tuple[int, TypeExpr]], codes: Mapping[str, int]) -> None:
    while parents:
        rows = [
            (
                TypeInstance(
                    data_type_id=codes.get(child.code or ""),
                    type_params=dict(child.params),
                    parent_id=parent,
                    slot=slot,
                    rendered=child.rendered,
                    type_name=child.native,
                ),
                child,
            )
            for parent, expr in parents
            for slot, child in expr.children.items()
        ]
        saved = TypeInstance.objects.bulk_create([row for row, _ in rows], batch_size=500)
        parents = [(row.pk, child) for row, (_, child) in zip(saved, rows, strict=True) if child.children]
