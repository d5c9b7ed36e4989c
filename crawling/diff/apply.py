"""Changes carried out on a document: the inverse of comparing. Only documents; tables are another's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from crawling.diff.changes import Change, Document
from crawling.diff.follow import follow
from crawling.diff.values import FIELD_KEYS, TYPE_KEYS, TYPE_OPS, copied
from registry.documents import column_lists, field_path, known_columns, number_key, split_path, walk
from registry.documents.content import foreign_key_content, unique_content
from registry.documents.expressions import rename_in_expression
from registry.typesystem import Catalogue

_STAGES = (
    ("rename_dataset", "move_dataset"),
    ("rename_field",),
    ("change_kind", "change_comment", "drop_unique", "change_primary_key", "change_foreign_key"),
    ("drop_field",),
    TYPE_OPS,
    ("add_field",),
    ("change_nullable", "change_default", "change_generated", "change_identity", "change_on_update"),
    ("add_unique",),
    ("change_position",),
)
_STAGE = {op: n for n, ops in enumerate(_STAGES) for op in ops}
FORGETS_DEFAULTS = {
    "code": "forgets_defaults",
    "text": "the server invented the defaults of the view's columns",
}


class CannotApply(ValueError):  # noqa: N818 (reads as what happened)
    """The document is not one to which this change can be made; `str()` is a plain sentence."""

    def __init__(self, change: Change | None, reason: str) -> None:
        super().__init__(reason)
        self.change = change
        self.reason = reason


def apply(
    before: Mapping[str, Any] | None,
    changes: Iterable[Change],
    *,
    after: Mapping[str, Any] | None = None,
    catalogue: Catalogue | None = None,
    positional: bool = False,
) -> Document | None:
    """The document that some changes make of another; None when the dataset is dropped.

    Given the source's document as `after`, order, positions and spellings follow it wherever the content is the
    same; with `positional`, order is content and does not follow. Raises CannotApply when a change does not fit the
    document, or what results has a key without its columns.
    """
    changes = list(changes)
    for change in changes:
        if change.op == "drop_dataset":
            return None
        if change.op == "add_dataset":
            return copied(dict(change.after))
    if before is None:
        raise CannotApply(changes[0] if changes else None, "There is no document to change.")
    document = copied(dict(before))
    for change in sorted(changes, key=_order):
        _DO[change.op](document, change)
    if after is not None:
        document = follow(document, after, catalogue=catalogue, positional=positional)
    _finish(document)
    return document


def apply_renames(
    before: Mapping[str, Any], changes: Iterable[Change]
) -> tuple[Document, tuple[Change, ...]]:
    """Only the renames of fields among the changes made, and those that do not fit."""
    document = copied(dict(before))
    failed = []
    for change in sorted((each for each in changes if each.op == "rename_field"), key=_order):
        try:
            _rename_field(document, change)
        except CannotApply:
            failed.append(change)
    return document, tuple(failed)


def _order(change: Change) -> tuple[int, int]:
    depth = len(split_path(change.field)) if change.field is not None else 0
    return _STAGE.get(change.op, 0), -depth if change.op == "drop_field" else depth


def _finish(document: Document) -> None:
    here = known_columns(document)
    for path, columns in column_lists(document):
        for name in columns:
            if name not in here:
                raise CannotApply(None, f"{path} would name the column {name}, which is not there.")
    stack = [document["fields"]]
    while stack:
        fields = stack.pop()
        for n, field in enumerate(fields, 1):
            field["position"] = n
            if field.get("fields"):
                stack.append(field["fields"])
    number_key(document)


def find_field(document: Mapping[str, Any], path: str) -> tuple[list[Document], Document | None]:
    """The list that holds (or would hold) a field, and the field; ([], None) when a parent is missing."""
    names = split_path(path)
    fields: list[Document] = document["fields"]
    field: Document | None = None
    for depth, name in enumerate(names):
        field = next((each for each in fields if each["name"] == name), None)
        if depth < len(names) - 1:
            if field is None:
                return [], None
            if field.get("fields") is None:
                return [], None
            fields = field["fields"]
    return fields, field


def _field(document: Document, change: Change) -> Document:
    field = find_field(document, change.field or "")[1]
    if field is None:
        raise CannotApply(change, f"The column {change.field} is not there.")
    return field


def _rename_dataset(document: Document, change: Change) -> None:
    old = (document.get("schema"), document.get("name"))
    if document.get("schema"):
        parts = split_path(change.after)
        document["schema"], document["name"] = parts if len(parts) == 2 else (document["schema"], parts[0])
    else:
        document["name"] = change.after
    for key in document.get("foreign_keys") or ():
        if (key.get("ref_schema"), key.get("ref_table")) == old:
            key["ref_schema"], key["ref_table"] = document["schema"], document["name"]


def _rename_field(document: Document, change: Change) -> None:
    fields, field = find_field(document, change.field or "")
    if field is None:
        raise CannotApply(change, f"The column {change.field} is not there.")
    if any(each["name"] == change.after for each in fields):
        raise CannotApply(change, f"There is a column {change.after} already.")
    field["name"] = change.after
    parents = split_path(change.field or "")[:-1]
    if parents:
        rename_columns(document, {change.field or "": field_path((*parents, change.after))})
    else:
        rename_columns(document, {change.before: change.after})
        rename_in_texts(document, {change.before: change.after})


def rename_columns(document: Document, names: Mapping[str, str]) -> None:
    """In every key of this dataset, and in keys that point at itself."""
    itself = (document.get("schema"), document.get("name"))
    if document.get("primary_key"):
        document["primary_key"]["columns"] = _renamed(document["primary_key"]["columns"], names)
    for key in document.get("unique") or ():
        key["columns"] = _renamed(key["columns"], names)
    for key in document.get("foreign_keys") or ():
        key["columns"] = _renamed(key["columns"], names)
        if key.get("on_delete_columns"):
            key["on_delete_columns"] = _renamed(key["on_delete_columns"], names)
        if (key.get("ref_schema"), key.get("ref_table")) == itself:
            key["ref_columns"] = _renamed(key.get("ref_columns") or (), names)


def rename_in_texts(document: Document, names: Mapping[str, str]) -> None:
    """In generated columns and in the predicates and expressions of unique keys."""
    for _, field in walk(document):
        generated = field.get("generated")
        if generated and generated.get("expression"):
            generated["expression"] = rename_in_expression(generated["expression"], names)
    for key in document.get("unique") or ():
        if key.get("predicate"):
            key["predicate"] = rename_in_expression(key["predicate"], names)
        if key.get("expressions"):
            key["expressions"] = [rename_in_expression(str(each), names) for each in key["expressions"]]


def _renamed(columns: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return [names.get(name, name) for name in columns]


def _add_field(document: Document, change: Change) -> None:
    fields, field = find_field(document, change.field or "")
    if field is not None:
        raise CannotApply(change, f"There is a column {change.field} already.")
    parents = split_path(change.field or "")[:-1]
    if parents:
        parent = find_field(document, field_path(parents))[1]
        if parent is None or parent.get("fields") is None:
            raise CannotApply(change, f"There is nothing that could hold the column {change.field}.")
    fields.append(copied(change.after))


def _drop_field(document: Document, change: Change) -> None:
    fields, field = find_field(document, change.field or "")
    if field is None:
        raise CannotApply(change, f"The column {change.field} is not there.")
    fields.remove(field)


def _change_type(document: Document, change: Change) -> None:
    field = _field(document, change)
    for key in TYPE_KEYS:
        field.pop(key, None)
    value = copied(change.after)
    nested = value.pop("nested", False)
    field.update({"type_name": None, "parameters": {}} | value)
    if not nested:
        field.pop("fields", None)
    elif field.get("fields") is None:
        field["fields"] = []


def _change_field(document: Document, change: Change) -> None:
    key = FIELD_KEYS[change.op]
    field = _field(document, change)
    if change.after is None and key == "on_update":
        field.pop(key, None)
    else:
        field[key] = copied(change.after)


def _change_comment(document: Document, change: Change) -> None:
    if change.field is None:
        document["comment"] = change.after
    else:
        _change_field(document, change)


def _change_kind(document: Document, change: Change) -> None:
    if FORGETS_DEFAULTS in change.evidence:
        for _, field in walk(document):
            field["default"] = None
    document["kind"] = change.after


def _change_primary_key(document: Document, change: Change) -> None:
    old = document.get("primary_key") or {}
    document["primary_key"] = (
        {**old, "name": old.get("name"), "columns": list(change.after)} if change.after else None
    )


def _add_unique(document: Document, change: Change) -> None:
    document.setdefault("unique", []).append(copied(change.after))


def _drop_unique(document: Document, change: Change) -> None:
    _take(document["unique"], change, unique_content)


def _change_foreign_key(document: Document, change: Change) -> None:
    keys = document.setdefault("foreign_keys", [])
    place = len(keys)
    if change.before is not None:
        place = _take(keys, change, lambda key: foreign_key_content(key, flavor="mysql"))
    if change.after is not None:
        keys.insert(place, copied(change.after))


def _take(keys: list[Document], change: Change, content: Callable[[Mapping[str, Any]], Any]) -> int:
    """Takes out the entry that a change names, an equally spelled one first; its place."""
    wanted = content(change.before)
    place = next((n for n, key in enumerate(keys) if key == change.before), None)
    if place is None:
        place = next((n for n, key in enumerate(keys) if content(key) == wanted), None)
    if place is None:
        raise CannotApply(
            change, f"The key over {', '.join(change.before.get('columns') or ())} is not there."
        )
    del keys[place]
    return place


def _change_position(document: Document, change: Change) -> None:
    order = {name: n for n, name in enumerate(change.after)}
    document["fields"].sort(key=lambda field: order.get(field["name"], len(order)))


_DO: dict[str, Callable[[Document, Change], None]] = {
    "rename_dataset": _rename_dataset,
    "move_dataset": _rename_dataset,
    "rename_field": _rename_field,
    "change_kind": _change_kind,
    "change_comment": _change_comment,
    "drop_unique": _drop_unique,
    "add_unique": _add_unique,
    "change_primary_key": _change_primary_key,
    "change_foreign_key": _change_foreign_key,
    "drop_field": _drop_field,
    "add_field": _add_field,
    "change_type": _change_type,
    "change_parameters": _change_type,
    "change_nullable": _change_field,
    "change_default": _change_field,
    "change_generated": _change_field,
    "change_identity": _change_field,
    "change_on_update": _change_field,
    "change_position": _change_position,
}
