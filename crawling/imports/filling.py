"""What a ChartDB file cannot say about a dataset, taken from what the registry has of it. Pure.

The measure is our own export: where the file says of a part just what the export of the registry's document would
say, the part stays as the registry has it. So a file that comes back unchanged changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from registry.chartdb.diagram import field_facts, plain_references, plain_uniques
from registry.documents.content import type_content
from registry.typesystem import Catalogue

Document = dict[str, Any]
Place = tuple[str, str]
_TYPE_KEYS = ("native_type", "type_name", "type_schema", "type_kind", "parameters")
_TYPE_FACTS = ("type", "isArray", "characterMaximumLength", "precision", "scale", "collation")
_UNSAID = ("generated", "hidden", "native_position", "on_update")
_VIEWS = frozenset({"view", "materialized_view"})


def fill(
    document: Document,
    present: Mapping[str, Any],
    *,
    flavor: str,
    catalogue: Catalogue,
    tables: Mapping[Place, Any],
) -> Document:
    """The document of a file, completed from the present one. `tables` has every table of the file by its place."""
    filled = dict(document)
    if _is_view(document) == _is_view(present):
        filled["kind"] = present["kind"] if document["kind"] not in _VIEWS else document["kind"]
    filled["attributes"] = present.get("attributes") or {}
    filled["fields"] = _fields(document["fields"], present["fields"], flavor=flavor, catalogue=catalogue)
    filled["primary_key"] = _primary_key(document, present)
    filled["unique"] = _uniques(document, present)
    filled["foreign_keys"] = _references(document, present, tables=tables)
    return filled


def _is_view(document: Mapping[str, Any]) -> bool:
    return document["kind"] in _VIEWS


def _fields(
    fields: Sequence[Document], present: Sequence[Mapping[str, Any]], *, flavor: str, catalogue: Catalogue
) -> list[Document]:
    there = {each["name"]: each for each in present}
    return [
        _field(each, there[each["name"]], flavor=flavor, catalogue=catalogue)
        if each["name"] in there
        else each
        for each in fields
    ]


def _field(field: Document, present: Mapping[str, Any], *, flavor: str, catalogue: Catalogue) -> Document:
    filled = dict(field)
    says = field_facts(field, flavor=flavor, catalogue=catalogue)
    said = field_facts(present, flavor=flavor, catalogue=catalogue)
    alike = all(says.get(key) == said.get(key) for key in _TYPE_FACTS)
    if alike or type_content(field, catalogue=catalogue) == type_content(present, catalogue=catalogue):
        _copy(filled, present, _TYPE_KEYS)
    _copy(filled, present, _UNSAID)
    if says.get("increment") == said.get("increment"):
        filled["identity"] = present.get("identity")
    if says.get("default") == said.get("default"):
        filled["default"] = present.get("default")
    nested = _fields(
        field.get("fields") or [], present.get("fields") or [], flavor=flavor, catalogue=catalogue
    )
    if nested or present.get("fields"):
        filled["fields"] = nested or present["fields"]
    return filled


def _copy(filled: Document, present: Mapping[str, Any], keys: Iterable[str]) -> None:
    for key in keys:
        if key in present:
            filled[key] = present[key]
        else:
            filled.pop(key, None)


def _primary_key(document: Mapping[str, Any], present: Mapping[str, Any]) -> Any:
    new, old = document.get("primary_key"), present.get("primary_key")
    return old if new and old and new["columns"] == old["columns"] else new


def _uniques(document: Mapping[str, Any], present: Mapping[str, Any]) -> list[Any]:
    """Keys with conditions or expressions stay; of the plain ones those that the file has."""
    plain = {columns for columns, _ in plain_uniques(present)}
    wanted = {columns: each for each in document["unique"] if (columns := tuple(each["columns"]))}
    kept = [
        each
        for each in present.get("unique") or []
        if tuple(each.get("columns") or ()) in wanted or not _is_plain(each, plain)
    ]
    have = {tuple(each.get("columns") or ()) for each in kept if _is_plain(each, plain)}
    return kept + [each for columns, each in wanted.items() if columns not in have]


def _is_plain(unique: Mapping[str, Any], plain: set[tuple[str, ...]]) -> bool:
    limited = any(unique.get(key) for key in ("predicate", "expressions", "partial", "prefix_lengths"))
    return not limited and tuple(unique.get("columns") or ()) in plain


def _references(
    document: Mapping[str, Any], present: Mapping[str, Any], *, tables: Mapping[Place, Any]
) -> list[Any]:
    """Foreign keys to tables outside of the file stay; of the others those that the file has."""
    keys = {
        place: tuple((each.get("primary_key") or {}).get("columns") or ()) for place, each in tables.items()
    }
    wanted = {_reference(each): each for each in document["foreign_keys"]}
    kept, have = [], set()
    for each in present.get("foreign_keys") or []:
        found = plain_references({**present, "foreign_keys": [each]}, keys)
        if not found:
            kept.append(each)
            continue
        columns, place, there, _ = found[0]
        if (columns, place, there) in wanted:
            kept.append(each)
            have.add((columns, place, there))
    return kept + [each for key, each in wanted.items() if key not in have]


def _reference(key: Mapping[str, Any]) -> tuple[tuple[str, ...], Place, tuple[str, ...]]:
    place = (key.get("ref_schema") or "", key.get("ref_table") or "")
    return tuple(key["columns"]), place, tuple(key.get("ref_columns") or ())
