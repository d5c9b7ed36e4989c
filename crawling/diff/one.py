"""What differs between two documents of one dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crawling.diff.apply import FORGETS_DEFAULTS, apply
from crawling.diff.building import Builder
from crawling.diff.changes import NO_CONTEXT, Change, Context
from crawling.diff.renames import Evidence, FieldRename, find_renames, given_renames
from crawling.diff.values import FIELD_KEYS, content_of, type_value
from registry.compatibility import risk
from registry.documents import field_path
from registry.documents.content import (
    default_content,
    foreign_key_content,
    has_own_defaults,
    key_columns,
    type_content,
    unique_content,
)
from registry.documents.keys import difference, order_change, paired
from registry.locations import dataset_name
from registry.typesystem import Catalogue

_TYPE_KEYS = ("native_type", "type_name", "type_schema", "type_kind", "parameters")
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Follows:
    """Says whether a foreign key of the registry became another only because what it points at was renamed."""

    tables: Mapping[tuple[Any, Any], tuple[Any, Any]]
    columns: Mapping[tuple[Any, Any], Mapping[str, str]]

    def moved(self, key: Mapping[str, Any]) -> dict[str, Any]:
        old = (key.get("ref_schema"), key.get("ref_table"))
        schema, table = self.tables.get(old, old)
        names = self.columns.get((schema, table), {})
        renamed = [names.get(name, name) for name in key.get("ref_columns") or ()]
        return {**key, "ref_schema": schema, "ref_table": table, "ref_columns": renamed}


NOTHING_FOLLOWS = Follows({}, {})


def diff(
    before: Document | None,
    after: Document | None,
    *,
    catalogue: Catalogue | None,
    context: Context = NO_CONTEXT,
    dataset: str | None = None,
    renamed_to: str | None = None,
    renames: Mapping[str, str] | None = None,
    positional: bool = False,
    evidence: Evidence = (),
    follows: Follows = NOTHING_FOLLOWS,
) -> tuple[Change, ...]:
    """The changes that make `after` of `before`; None stands for a dataset that is not there.

    `dataset` is the registry's name of it, by default the documents' own. `renames` (old path → new name) are the
    pairs a person made, in place of those we would find. `positional` makes the order of fields content.
    """
    if before is after or before == after:
        return ()
    name = dataset or dataset_name(before or after or {})
    build = Builder(name, catalogue, context)
    if before is None:
        build.add("add_dataset", None, None, dict(after or {}), evidence=evidence)
        return build.finish()
    if after is None:
        rating = risk.rate_dropped_dataset(build.readers(), build.tags())
        build.add("drop_dataset", None, dict(before), None, rating, evidence)
        return build.finish()
    _Comparison(before, after, build, follows).run(renamed_to, renames, evidence, positional=positional)
    return build.finish()


class _Comparison:
    def __init__(self, before: Document, after: Document, build: Builder, follows: Follows) -> None:
        self.before, self.after, self.build = before, after, build
        self.catalogue = build.catalogue
        self.flavor = build.catalogue.flavor if build.catalogue is not None else None
        self.follows = follows
        self.possible: Mapping[str, Evidence] = {}
        self.compare_defaults = True
        self.forget_defaults = False

    def run(
        self,
        renamed_to: str | None,
        pairs: Mapping[str, str] | None,
        evidence: Evidence,
        *,
        positional: bool,
    ) -> None:
        self.rename_dataset(renamed_to, evidence)
        before_fields, after_fields = self.before.get("fields") or (), self.after.get("fields") or ()
        if before_fields != after_fields:
            self.rename_fields(pairs)
        if self.build.changes:
            self.before = apply(self.before, self.build.changes) or {}
        self.kind_and_comment()
        if self.forget_defaults or self.before.get("fields") != after_fields:
            self.fields(self.before.get("fields") or (), after_fields, ())
        self.primary_key()
        self.unique()
        self.foreign_keys()
        if positional:
            self.order()

    def rename_dataset(self, renamed_to: str | None, evidence: Evidence) -> None:
        old, new = self.build.dataset, renamed_to
        if new is None:
            places = [(d.get("schema"), d.get("name")) for d in (self.before, self.after)]
            new = dataset_name(self.after) if places[0] != places[1] else old
        if new == old:
            return
        op = "move_dataset" if self.before.get("schema") != self.after.get("schema") else "rename_dataset"
        self.build.add(
            op, None, old, new, risk.rate_renamed_dataset(op, old, new, self.build.readers()), evidence
        )

    def rename_fields(self, pairs: Mapping[str, str] | None) -> None:
        if pairs is None:
            found = find_renames(self.before, self.after, catalogue=self.catalogue)
        else:
            found = given_renames(self.before, self.after, pairs=pairs, catalogue=self.catalogue)
        self.possible = found.possible
        for rename in found.sure:
            self.rename_field(rename)

    def rename_field(self, rename: FieldRename) -> None:
        old_path = self.build.old_path(rename.path)
        rating = risk.rate_renamed_field(rename.old, rename.new, self.build.readers(rename.path))
        self.build.add("rename_field", rename.path, rename.old, rename.new, rating, rename.evidence)
        self.build.old_paths[rename.new_path] = old_path

    def kind_and_comment(self) -> None:
        was, now = self.before.get("kind") or "table", self.after.get("kind") or "table"
        if was != now:
            self.forget_defaults = not has_own_defaults(was, flavor=self.flavor)
            evidence = (FORGETS_DEFAULTS,) if self.forget_defaults else ()
            self.build.add("change_kind", None, was, now, risk.rate_kind(was, now), evidence)
        self.compare_defaults = has_own_defaults(now, flavor=self.flavor)
        was, now = self.before.get("comment") or None, self.after.get("comment") or None
        if was != now:
            self.build.add("change_comment", None, was, now)

    def fields(self, before: Sequence[Document], after: Sequence[Document], parents: tuple[str, ...]) -> None:
        old, new = {f["name"]: f for f in before}, {f["name"]: f for f in after}
        for name, field in old.items():
            if name not in new:
                path = field_path((*parents, name))
                rating = risk.rate_dropped_field(self.build.readers(path), self.build.tags(path))
                self.build.add("drop_field", path, dict(field), None, rating, self.possible.get(path, ()))
        for name, field in new.items():
            if name not in old:
                path = field_path((*parents, name))
                rating = risk.rate_added_field(field)
                self.build.add("add_field", path, None, dict(field), rating, self.possible.get(path, ()))
            elif self.forget_defaults or old[name] != field:
                self.field(old[name], field, (*parents, name))

    def field(self, was: Document, now: Document, names: tuple[str, ...]) -> None:
        path = field_path(names)
        if self.forget_defaults:
            was = {**was, "default": None}
        self.type(was, now, path)
        for op, key in FIELD_KEYS.items():
            one, other = was.get(key), now.get(key)
            if key == "nullable":
                one, other = one is not False, other is not False
            if one == other or (key == "default" and not self.compare_defaults):
                continue
            if content_of(op, one, catalogue=None) == content_of(op, other, catalogue=None):
                continue
            if key == "default" and default_content(was) == default_content(now):
                continue
            rating = risk.rate_nullable(bool(other), self.build.readers(path)) if key == "nullable" else None
            if key == "comment":
                one, other = one or None, other or None
            self.build.add(op, path, one, other, rating)
        if now.get("fields") is not None:
            self.fields(was.get("fields") or (), now["fields"], names)

    def type(self, was: Document, now: Document, path: str) -> None:
        nested = (was.get("fields") is not None, now.get("fields") is not None)
        if nested[0] == nested[1] and all(
            (was.get(key) or None) == (now.get(key) or None) for key in _TYPE_KEYS
        ):
            return
        one, other = (type_content(f, catalogue=self.catalogue) for f in (was, now))
        if one == other:
            return
        same = one["base"] == other["base"] and nested[0] == nested[1]
        before, after = type_value(was), type_value(now)
        rating = risk.rate_type(before, after, catalogue=self.catalogue)
        self.build.add("change_parameters" if same else "change_type", path, before, after, rating)

    def primary_key(self) -> None:
        was, now = key_columns(self.before), key_columns(self.after)
        if was != now:
            self.build.add("change_primary_key", None, was, now)

    def unique(self) -> None:
        before = self.before.get("unique") or ()
        gone, come = difference(before, self.after.get("unique") or (), unique_content)
        for key in gone:
            self.build.add("drop_unique", None, key, None)
        for key in come:
            self.build.add("add_unique", None, None, key, evidence=_another(key, before, unique_content))

    def foreign_keys(self) -> None:
        def content(key: Document) -> dict[str, Any]:
            return foreign_key_content(key, flavor=self.flavor)

        before = self.before.get("foreign_keys") or ()
        gone, come = difference(before, self.after.get("foreign_keys") or (), content)
        for was, now in paired(gone, come):
            rating = risk.rate_foreign_key(was, now)
            if was and now and content(self.follows.moved(was)) == content(now):
                rating = risk.FOLLOWS
            also = _another(now, before, content) if now and not was else ()
            self.build.add("change_foreign_key", None, was, now, rating, also)

    def order(self) -> None:
        moved = order_change(self.before, self.after)
        if moved is not None:
            self.build.add("change_position", None, *moved)


def _another(key: Document, keys: Sequence[Document], content: Callable[[Document], Any]) -> Evidence:
    """Says that the dataset has an equal key already, so that its presence is no news."""
    if any(content(each) == content(key) for each in keys):
        return ({"code": "another_equal", "text": "there is an equal key already"},)
    return ()
