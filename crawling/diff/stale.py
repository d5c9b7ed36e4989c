"""Whether the registry still holds what a change was computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crawling.diff.apply import apply_renames, find_field
from crawling.diff.changes import Change
from crawling.diff.values import FIELD_KEYS, TYPE_OPS, content_of, type_value
from registry.documents.content import has_own_defaults, key_columns
from registry.locations import dataset_name
from registry.typesystem import Catalogue

MISSING: Any = object()


def stale(
    document: Mapping[str, Any] | None, changes: Iterable[Change], *, catalogue: Catalogue | None
) -> tuple[Change, ...]:
    """The changes whose `before` is not what the registry's present document has at their path.

    Pass all open changes of a proposal: what is said of a renamed field is looked up as if its rename were made.
    """
    changes = tuple(changes)
    if document is None:
        return tuple(change for change in changes if change.op != "add_dataset")
    renamed, failed = apply_renames(document, changes)
    return tuple(
        change
        for change in changes
        if change in failed or _is_stale(document, renamed, change, catalogue=catalogue)
    )


def present_value(
    document: Mapping[str, Any] | None,
    change: Change,
    *,
    changes: Iterable[Change] = (),
    catalogue: Catalogue | None = None,
) -> Any:
    """What the registry's document has now at the change's path; None for nothing."""
    if document is None:
        return None
    renamed, _ = apply_renames(document, (each for each in changes if each != change))
    value = _value(document, renamed, change, catalogue=catalogue)
    return None if value is MISSING else value


def _is_stale(
    document: Mapping[str, Any], renamed: Mapping[str, Any], change: Change, *, catalogue: Catalogue | None
) -> bool:
    if change.op == "rename_field":
        return False
    if any(each.get("code") == "another_equal" for each in change.evidence):
        return False
    present = _value(document, renamed, change, catalogue=catalogue)
    if present is MISSING:
        return True
    before = content_of(change.op, change.before, catalogue=catalogue)
    return content_of(change.op, present, catalogue=catalogue) != before


def _value(
    document: Mapping[str, Any], renamed: Mapping[str, Any], change: Change, *, catalogue: Catalogue | None
) -> Any:
    op, path = change.op, change.field
    if path is not None:
        flavor = catalogue.flavor if catalogue is not None else None
        value = _field_value(find_field(renamed, path)[1], op)
        if op == "change_default" and not has_own_defaults(document.get("kind") or "table", flavor=flavor):
            return MISSING if value is MISSING else None
        return value
    if op in ("add_dataset", "drop_dataset"):
        return document
    if op in ("rename_dataset", "move_dataset"):
        return dataset_name(document)
    if op == "change_kind":
        return document.get("kind") or "table"
    if op == "change_comment":
        return document.get("comment")
    if op == "change_primary_key":
        return key_columns(renamed)
    if op == "change_position":
        known = set(change.before)
        return [field["name"] for field in renamed["fields"] if field["name"] in known]
    keys = renamed.get("foreign_keys" if op == "change_foreign_key" else "unique") or ()
    wanted = content_of(op, change.after if change.before is None else change.before, catalogue=catalogue)
    return next((key for key in keys if content_of(op, key, catalogue=catalogue) == wanted), None)


def _field_value(field: Mapping[str, Any] | None, op: str) -> Any:
    if op in ("add_field", "drop_field"):
        return field
    if field is None:
        return MISSING
    if op == "rename_field":
        return field["name"]
    if op in TYPE_OPS:
        return type_value(field)
    return field.get(FIELD_KEYS[op], True if op == "change_nullable" else None)
