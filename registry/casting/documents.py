"""Plans a whole schema document for another flavor: each field's type, and adjustments that a table as a whole needs.

Pure. `registry.casting.ddl` writes the plan as the target's own schema text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.casting import defaults
from registry.casting.defaults import Default
from registry.casting.planning import Cast, Planner
from registry.typesystem import TypeExpr, build, parse
from registry.values import LOSSLESS, judge, values_of

_LARGEST_ROW = 65_000
_CHARACTER_BYTES = 4
_ACTIONS = frozenset({"CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"})


@dataclass(frozen=True)
class FieldPlan:
    """One field of the new table; `cast.target` is None when it has no place there.

    `left_out` says in sentences what else the field had that the plan does not keep.
    """

    name: str
    native: str
    cast: Cast
    nullable: bool = True
    comment: str = ""
    default: Default | None = None
    left_out: tuple[str, ...] = ()

    @property
    def target(self) -> TypeExpr | None:
        return self.cast.target


@dataclass(frozen=True)
class ReferencePlan:
    """A foreign key: its columns, and where they point. Actions are in capitals, empty where nothing happens."""

    name: str
    columns: tuple[str, ...]
    schema: str
    table: str
    to: tuple[str, ...]
    on_delete: str = ""
    on_update: str = ""


@dataclass(frozen=True)
class TablePlan:
    """A dataset in another flavor. Keys hold the names of columns."""

    flavor: str
    schema: str
    name: str
    fields: tuple[FieldPlan, ...]
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    references: tuple[ReferencePlan, ...] = ()

    @property
    def known(self) -> tuple[FieldPlan, ...]:
        return tuple(field for field in self.fields if field.target is not None)

    @property
    def missing(self) -> tuple[FieldPlan, ...]:
        return tuple(field for field in self.fields if field.target is None)


def plan_document(document: Mapping[str, Any], *, planner: Planner) -> TablePlan:
    """The plan for a cleaned document. Hidden fields are left out."""
    fields = tuple(
        plan_field(field, planner=planner)
        for field in document.get("fields") or ()
        if not field.get("hidden")
    )
    key = document.get("primary_key") or {}
    plan = TablePlan(
        flavor=planner.target.flavor,
        schema=document.get("schema") or "",
        name=document.get("name") or "dataset",
        fields=fields,
        comment=document.get("comment") or "",
        primary_key=tuple(key.get("columns") or ()),
        unique=tuple(tuple(each["columns"]) for each in document.get("unique") or () if _is_plain(each)),
        references=tuple(_reference(each) for each in document.get("foreign_keys") or ()),
    )
    return _narrowed(plan, planner) if plan.flavor in ("mysql", "mariadb") else plan


def plan_field(field: Mapping[str, Any], *, planner: Planner) -> FieldPlan:
    """The plan for one field of a document."""
    expr = type_of(field, planner=planner)
    cast = planner.cast(expr, name=field["name"])
    default, left_out = _default(field, cast, planner=planner)
    return FieldPlan(
        name=field["name"],
        native=field.get("native_type") or expr.rendered,
        cast=cast,
        nullable=field.get("nullable", True) is not False,
        comment=field.get("description") or field.get("comment") or "",
        default=default,
        left_out=left_out,
    )


def _default(
    field: Mapping[str, Any], cast: Cast, *, planner: Planner
) -> tuple[Default | None, tuple[str, ...]]:
    """The default as the target takes it, else what was left out and why."""
    if field.get("generated"):
        return None, ("its expression was left out: it is the source's own",)
    if field.get("identity"):
        return None, ("its numbering was left out: the source counts by itself",)
    text = field.get("default")
    if not isinstance(text, str) or not text.strip() or cast.target is None:
        return None, ()
    found = defaults.read(text, flavor=planner.source.flavor)
    if found is None:
        return None, (f"its default {text} was left out: it is the source's own expression",)
    fitted = defaults.fitted(found, values_of(planner.target, cast.target, writing=True), cast.target)
    if isinstance(fitted, str):
        return None, (f"its default {text} was left out: {fitted}",)
    return fitted, ()


def _reference(key: Mapping[str, Any]) -> ReferencePlan:
    actions = {
        name: " ".join(str(key.get(name) or "").upper().replace("_", " ").split())
        for name in ("on_delete", "on_update")
    }
    return ReferencePlan(
        name=key.get("name") or "",
        columns=tuple(key.get("columns") or ()),
        schema=key.get("ref_schema") or "",
        table=key["ref_table"],
        to=tuple(key.get("ref_columns") or ()),
        **{name: action for name, action in actions.items() if action in _ACTIONS},
    )


def type_of(field: Mapping[str, Any], *, planner: Planner) -> TypeExpr:
    """The field's type; a field that only says that it has parts is a record of these."""
    expr = parse(planner.source, field.get("native_type") or "", field=field)
    nested = field.get("fields") or ()
    struct = next((each for each in planner.source if each.logical_type == "struct"), None)
    if nested and struct is not None and struct.has_named_parts and (expr.code is None or not expr.children):
        children = {each["name"]: type_of(each, planner=planner) for each in nested}
        named: dict[str, Any] = {n: field["name"] for n in ("name", "type_name") if n in struct.takes}
        return build(planner.source, struct.code, {**named, "fields": list(children)}, children)
    return expr


def _is_plain(unique: Mapping[str, Any]) -> bool:
    parts = ("predicate", "expressions", "partial", "prefix_lengths")
    return bool(unique.get("columns")) and not any(unique.get(part) for part in parts)


def _narrowed(plan: TablePlan, planner: Planner) -> TablePlan:
    """MySQL's rows have 65,535 bytes: the longest texts outside of keys move out of the row until it fits."""
    keyed = {name for columns in (plan.primary_key, *plan.unique) for name in columns}
    fields = list(plan.fields)
    sizes = [_bytes(field.target) for field in fields]
    movable = sorted(
        (n for n, field in enumerate(fields) if field.name not in keyed and sizes[n] > 300),
        key=lambda n: -sizes[n],
    )
    for n in movable:
        if sum(sizes) <= _LARGEST_ROW:
            break
        fields[n], sizes[n] = _moved(fields[n], planner), 12
    return replace(plan, fields=tuple(fields))


def _bytes(target: TypeExpr | None) -> int:
    length = target.params.get("length", 0) if target is not None else 0
    wide = target is not None and target.code in ("char", "varchar")
    return 12 + length * (_CHARACTER_BYTES if wide else 1)


def _moved(field: FieldPlan, planner: Planner) -> FieldPlan:
    assert field.target is not None
    held = values_of(planner.source, field.cast.source)
    text = field.target.code in ("char", "varchar")
    for code in ("text", "mediumtext", "longtext") if text else ("blob", "mediumblob", "longblob"):
        made = build(planner.target, code)
        room = values_of(planner.target, made, writing=True)
        verdict = judge(held, room) if held is not None and room is not None else None
        if verdict is not None and verdict.safety == LOSSLESS:
            why = f"{verdict.why}; kept outside of the row, which would be too long"
            return replace(field, cast=replace(field.cast, target=made, safety=verdict.safety, why=why))
    return field
