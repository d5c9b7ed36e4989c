"""What differs between two documents, and which readers each difference leaves behind. Pure.

Fields are matched by name: a document knows nothing of a field that was called otherwise. Used by
`registry.compatibility.levels` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.compatibility import risk
from registry.compatibility.risk import SIMPLE, Rating
from registry.compatibility.types import reads
from registry.documents import field_path
from registry.documents.content import (
    default_content,
    expression_of,
    foreign_key_content,
    generated_content,
    has_own_defaults,
    identity_content,
    key_columns,
    type_content,
    unique_content,
)
from registry.documents.expressions import normal_default
from registry.documents.keys import difference, order_change, paired
from registry.typesystem import Catalogue

Document = Mapping[str, Any]

MAYBE_RENAMED = "maybe_renamed"
_NEEDS_WRITERS = "field_added_required"


@dataclass(frozen=True)
class Finding:
    """One difference. `backward`: new readers still read old data; `forward`: old readers still read new data."""

    field: str | None
    rating: Rating
    old: Any
    new: Any
    backward: bool = True
    forward: bool = True


def findings(
    before: Document, after: Document, *, catalogue: Catalogue, positional: bool = False
) -> list[Finding]:
    """Every difference of content, the dataset's own first, then field by field."""
    comparison = _Comparison(before, after, catalogue)
    found = [*comparison.dataset(), *comparison.keys()]
    if positional:
        found += comparison.order()
    found += comparison.fields(before.get("fields") or (), after.get("fields") or (), ())
    return found


class _Comparison:
    def __init__(self, before: Document, after: Document, catalogue: Catalogue) -> None:
        self.before, self.after, self.catalogue = before, after, catalogue
        kinds = [document.get("kind") or "table" for document in (before, after)]
        self.kinds = (kinds[0], kinds[1])
        self.defaults = all(has_own_defaults(kind, flavor=catalogue.flavor) for kind in kinds)

    def dataset(self) -> Iterator[Finding]:
        was, now = self.kinds
        if was != now:
            rating = risk.rate_kind(was, now)
            same_use = rating.risk != risk.BREAKING
            yield Finding(None, rating, was, now, backward=same_use, forward=same_use)
        one, other = self.before.get("comment") or None, self.after.get("comment") or None
        if one != other:
            yield Finding(None, SIMPLE["change_comment"], one, other)

    def keys(self) -> Iterator[Finding]:
        key = (key_columns(self.before), key_columns(self.after))
        if key[0] != key[1]:
            yield Finding(None, SIMPLE["change_primary_key"], *key, backward=False, forward=False)
        unique = [document.get("unique") or () for document in (self.before, self.after)]
        gone, come = difference(unique[0], unique[1], unique_content)
        for each in gone:
            yield Finding(None, SIMPLE["drop_unique"], each, None, backward=False, forward=False)
        for each in come:
            yield Finding(None, SIMPLE["add_unique"], None, each, backward=False)
        foreign = [document.get("foreign_keys") or () for document in (self.before, self.after)]
        pairs = paired(*difference(foreign[0], foreign[1], self._foreign_key))
        for was, now in pairs:
            yield Finding(None, risk.rate_foreign_key(was, now), was, now)

    def _foreign_key(self, key: Document) -> dict[str, Any]:
        return foreign_key_content(key, flavor=self.catalogue.flavor)

    def order(self) -> Iterator[Finding]:
        moved = order_change(self.before, self.after)
        if moved is not None:
            yield Finding(None, SIMPLE["change_position"], *moved, backward=False, forward=False)

    def fields(
        self, before: Sequence[Document], after: Sequence[Document], parents: tuple[str, ...]
    ) -> Iterator[Finding]:
        old, new = {f["name"]: f for f in before}, {f["name"]: f for f in after}
        gone = [field for name, field in old.items() if name not in new]
        come = [field for name, field in new.items() if name not in old]
        for field in gone:
            path = field_path((*parents, field["name"]))
            # Swapped, a dropped field is an added one, and old readers need what new readers would.
            missed = risk.rate_added_field(field).rule == _NEEDS_WRITERS
            rating = risk.rate_dropped_field(0, ())
            yield Finding(path, rating, field.get("native_type"), None, forward=not missed)
        for field in come:
            path = field_path((*parents, field["name"]))
            rating = risk.rate_added_field(field)
            missed = rating.rule == _NEEDS_WRITERS
            yield Finding(path, rating, None, field.get("native_type"), backward=not missed)
        yield from self.renamed(gone, come, parents)
        for name, field in new.items():
            if name in old and old[name] != field:
                yield from self.field(old[name], field, (*parents, name))

    def renamed(
        self, gone: Sequence[Document], come: Sequence[Document], parents: tuple[str, ...]
    ) -> Iterator[Finding]:
        """A gone and a new field that are alike but for the name, and no other is like them."""
        likes = {
            field["name"]: [each for each in come if self.alike(field, each)] if len(come) <= 100 else []
            for field in gone
        }
        for name, found in likes.items():
            if len(found) == 1 and sum(found[0] in others for others in likes.values()) == 1:
                old, new = field_path((*parents, name)), field_path((*parents, found[0]["name"]))
                why = f"{new} may be {old} by a new name; to readers one is gone and one is new."
                yield Finding(old, Rating(risk.RISKY, MAYBE_RENAMED, why), old, new)

    def alike(self, one: Document, other: Document) -> bool:
        nullable = [field.get("nullable", True) for field in (one, other)]
        types = [type_content(field, catalogue=self.catalogue) for field in (one, other)]
        return nullable[0] == nullable[1] and types[0] == types[1]

    def field(self, was: Document, now: Document, names: tuple[str, ...]) -> Iterator[Finding]:
        path = field_path(names)
        yield from self.type(was, now, path)
        empty, still = was.get("nullable") is not False, now.get("nullable") is not False
        if empty != still:
            yield Finding(path, risk.rate_nullable(still, 0), empty, still, backward=still, forward=empty)
        if self.defaults and default_content(was) != default_content(now):
            yield Finding(path, SIMPLE["change_default"], was.get("default"), now.get("default"))
        for op, key, content in (
            ("change_comment", "comment", lambda value: value or None),
            ("change_generated", "generated", generated_content),
            ("change_identity", "identity", identity_content),
            ("change_on_update", "on_update", normal_default),
        ):
            if content(was.get(key)) != content(now.get(key)):
                yield Finding(path, SIMPLE[op], was.get(key) or None, now.get(key) or None)
        if was.get("fields") is not None and now.get("fields") is not None:
            yield from self.fields(was["fields"], now["fields"], names)

    def type(self, was: Document, now: Document, path: str) -> Iterator[Finding]:
        one, other = (type_content(field, catalogue=self.catalogue) for field in (was, now))
        if one == other:
            return
        rating = risk.rate_type(was, now, catalogue=self.catalogue)
        ends = one["nested"] == other["nested"]
        yield Finding(
            path,
            rating,
            was.get("native_type"),
            now.get("native_type"),
            backward=ends and self.reads(was, now),
            forward=ends and self.reads(now, was),
        )

    def reads(self, written: Document, read: Document) -> bool:
        """Whether every value that was written as the one type is a value of the other."""
        old = expression_of(written, catalogue=self.catalogue)
        new = expression_of(read, catalogue=self.catalogue)
        if old is None or new is None:
            return False
        if old == new:
            # Only what no rule knows differs, such as the parts of a composite type.
            return risk.rate_type(written, read, catalogue=self.catalogue).risk != risk.BREAKING
        return reads(old, new, catalogue=self.catalogue)
