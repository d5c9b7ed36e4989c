"""A document in the words of the source: order, positions and spellings wherever the content is the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crawling.diff.values import FIELD_KEYS, TYPE_KEYS, content_of, copied
from registry.documents.content import (
    foreign_key_content,
    has_own_defaults,
    key_columns,
    type_content,
    unique_content,
)
from registry.typesystem import Catalogue

Document = dict[str, Any]


def follow(
    document: Document, after: Mapping[str, Any], *, catalogue: Catalogue | None, positional: bool = False
) -> Document:
    """`document` with the words of `after`; with `positional`, its fields keep their own order."""
    flavor = catalogue.flavor if catalogue is not None else None
    out = {**document, "attributes": copied(after.get("attributes") or {})}
    invented = () if has_own_defaults(document.get("kind") or "table", flavor=flavor) else ("default",)
    always = ("native_position", "hidden", *invented)
    out["fields"] = _fields(document["fields"], after.get("fields") or (), catalogue=catalogue, always=always)
    if positional:
        place = {field["name"]: n for n, field in enumerate(document["fields"])}
        out["fields"].sort(key=lambda field: place[field["name"]])
    if key_columns(document) == key_columns(after):
        out["primary_key"] = copied(after.get("primary_key"))
    out["unique"] = _keys(document.get("unique") or (), after.get("unique") or (), unique_content)
    out["foreign_keys"] = _keys(
        document.get("foreign_keys") or (),
        after.get("foreign_keys") or (),
        lambda key: foreign_key_content(key, flavor=flavor),
    )
    return out


def in_order(names: Sequence[str], source: Sequence[str]) -> list[str]:
    """Names in the order of the source; what it does not have stays behind the one it followed."""
    here, there = set(names), set(source)
    out = [name for name in source if name in here]
    previous: str | None = None
    for name in names:
        if name not in there:
            out.insert(out.index(previous) + 1 if previous is not None else 0, name)
        previous = name
    return out


def _fields(
    fields: Sequence[Document],
    after: Sequence[Mapping[str, Any]],
    *,
    catalogue: Catalogue | None,
    always: Sequence[str],
) -> list[Document]:
    mine = {field["name"]: field for field in fields}
    theirs = {field["name"]: field for field in after}
    return [
        _field(mine[name], theirs[name], catalogue=catalogue, always=always) if name in theirs else mine[name]
        for name in in_order(list(mine), list(theirs))
    ]


def _field(
    field: Document, after: Mapping[str, Any], *, catalogue: Catalogue | None, always: Sequence[str]
) -> Document:
    if field == after:
        return field
    out = dict(field)
    if type_content(field, catalogue=catalogue) == type_content(after, catalogue=catalogue):
        for key in TYPE_KEYS:
            _copy(key, after, out)
    for op, key in FIELD_KEYS.items():
        if content_of(op, field.get(key), catalogue=catalogue) == content_of(
            op, after.get(key), catalogue=catalogue
        ):
            _copy(key, after, out)
    for key in always:
        _copy(key, after, out)
    if field.get("fields") and after.get("fields"):
        out["fields"] = _fields(field["fields"], after["fields"], catalogue=catalogue, always=always)
    return out


def _copy(key: str, source: Mapping[str, Any], target: Document) -> None:
    if key in source:
        target[key] = copied(source[key])
    else:
        target.pop(key, None)


def _keys(
    keys: Sequence[Document], after: Sequence[Mapping[str, Any]], content: Callable[[Mapping[str, Any]], Any]
) -> list[Document]:
    """The source's entry for each that says the same, in its order; then those it does not have."""
    left = [(content(key), key) for key in keys]
    out: list[Document] = []
    for entry in after:
        wanted = content(entry)
        place = next((n for n, (value, _) in enumerate(left) if value == wanted), None)
        if place is not None:
            del left[place]
            out.append(copied(dict(entry)))
    return out + [key for _, key in left]
