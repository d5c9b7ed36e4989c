"""From differences to changes: rated, fingerprinted, and tied to what must be approved with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from crawling.diff.changes import Change, Context
from crawling.diff.values import change_fingerprint
from registry.compatibility.risk import SIMPLE, Rating
from registry.documents import field_path, split_path
from registry.documents.expressions import rename_in_expression
from registry.typesystem import Catalogue


@dataclass
class Builder:
    """Collects the changes of one dataset. `old_paths` leads from a renamed field's path to the registry's."""

    dataset: str
    catalogue: Catalogue | None
    context: Context
    old_paths: dict[str, str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def old_path(self, path: str) -> str:
        names = split_path(path)
        for n in range(len(names), 0, -1):
            head = field_path(names[:n])
            if head in self.old_paths:
                return ".".join(filter(None, (self.old_paths[head], field_path(names[n:]))))
        return path

    def readers(self, path: str | None = None) -> int:
        return self.context.readers_of(self.dataset, None if path is None else self.old_path(path))

    def tags(self, path: str | None = None) -> tuple[str, ...]:
        return self.context.tags_of(self.dataset, None if path is None else self.old_path(path))

    def add(
        self,
        op: str,
        path: str | None,
        before: Any,
        after: Any,
        rating: Rating | None = None,
        evidence: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        rating = rating or SIMPLE[op]
        tagged = bool(self.context.pii) and bool(
            self.tags(path) if path is not None else op.endswith("_dataset") and self.tags()
        )
        self.changes.append(
            Change(
                op=op,
                dataset=self.dataset,
                field=path,
                before=before,
                after=after,
                risk=rating.risk,
                why=rating.why,
                rule=rating.rule,
                evidence=tuple(evidence),
                touches_pii=tagged,
            )
        )

    def finish(self) -> tuple[Change, ...]:
        """All changes with fingerprints and requirements."""
        seen: Counter[str] = Counter()
        numbered = []
        for change in self.changes:
            args = (change.op, change.dataset, change.field, change.before, change.after)
            mark = change_fingerprint(*args, catalogue=self.catalogue)
            seen[mark] += 1
            if seen[mark] > 1:
                mark = change_fingerprint(*args, catalogue=self.catalogue, again=seen[mark])
            numbered.append(replace(change, fingerprint=mark))
        return _tied(numbered) if len(numbered) > 1 else tuple(numbered)


def _tied(changes: list[Change]) -> tuple[Change, ...]:
    needs: dict[str, set[str]] = {change.fingerprint: set() for change in changes}

    def tie(change: Change, other: Change | None) -> None:
        if other is not None and other is not change:
            needs[change.fingerprint].add(other.fingerprint)

    by_op: dict[str, list[Change]] = {}
    for change in changes:
        by_op.setdefault(change.op, []).append(change)
    _tie_renamed(changes, by_op, tie)
    _tie_keys(by_op, tie)
    _tie_nullability(by_op, tie)
    _tie_nested(by_op, tie)
    kind = next(iter(by_op.get("change_kind", ())), None)
    if kind is not None and any(each.get("code") == "forgets_defaults" for each in kind.evidence):
        for change in changes:
            if change.op == "change_default" or (change.op == "add_field" and _gives_default(change.after)):
                tie(change, kind)
    order = {change.fingerprint: n for n, change in enumerate(changes)}
    return tuple(
        replace(change, requires=tuple(sorted(needs[change.fingerprint], key=order.__getitem__)))
        if needs[change.fingerprint]
        else change
        for change in changes
    )


def _gives_default(field: Mapping[str, Any]) -> bool:
    return field.get("default") is not None or any(_gives_default(each) for each in field.get("fields") or ())


Tie = Callable[[Change, Change | None], None]
_KEY_OPS = ("change_primary_key", "change_foreign_key", "add_unique", "drop_unique")


def _new_path(change: Change) -> str:
    return field_path((*split_path(change.field or "")[:-1], change.after))


def _tie_renamed(changes: list[Change], by_op: Mapping[str, list[Change]], tie: Tie) -> None:
    """What is said in a renamed field's new name holds only with the rename."""
    for rename in by_op.get("rename_field", ()):
        path = split_path(_new_path(rename))
        back = {rename.after: rename.before}
        for change in changes:
            if change is rename:
                continue
            under = change.field is not None and split_path(change.field)[: len(path)] == path
            keyed = change.op in _KEY_OPS and _new_path(rename) in _columns_of(change.before, change.after)
            spelled = len(path) == 1 and any(
                rename_in_expression(text, back) != text for text in _texts(change)
            )
            if under or keyed or spelled:
                tie(change, rename)


def _tie_keys(by_op: Mapping[str, list[Change]], tie: Tie) -> None:
    """A key needs its new columns, and a column goes only when no key names it any more."""
    added = {change.field: change for change in by_op.get("add_field", ())}
    dropped = {change.field: change for change in by_op.get("drop_field", ())}
    if not added and not dropped:
        return
    for op in _KEY_OPS:
        for change in by_op.get(op, ()):
            if op != "drop_unique":
                for column in _columns_of(change.after):
                    tie(change, _holding(column, added))
            if op != "add_unique":
                for column in _columns_of(change.before):
                    gone = _holding(column, dropped)
                    if gone is not None:
                        tie(gone, change)


def _holding(column: str, changes: Mapping[str | None, Change]) -> Change | None:
    """The change of the column or of a field that holds it; keys name top-level columns as they are."""
    found = changes.get(field_path((column,))) or changes.get(column)
    if found is not None or not changes:
        return found
    try:
        names = split_path(column)
    except ValueError:
        return None
    heads = (field_path(names[:n]) for n in range(len(names) - 1, 0, -1))
    return next((changes[head] for head in heads if head in changes), None)


def _tie_nullability(by_op: Mapping[str, list[Change]], tie: Tie) -> None:
    """No column of a primary key is nullable, where the source keeps it so."""
    for key in by_op.get("change_primary_key", ()):
        now, was = {field_path((c,)) for c in key.after or ()}, {field_path((c,)) for c in key.before or ()}
        for change in by_op.get("change_nullable", ()):
            if change.after is False and change.field in now:
                tie(key, change)
            elif change.after is True and change.field in was - now:
                tie(change, key)


def _tie_nested(by_op: Mapping[str, list[Change]], tie: Tie) -> None:
    """A field inside of one that becomes a structure needs that first."""
    types = {c.field: c for c in by_op.get("change_type", ()) if c.after.get("nested")}
    if types:
        for change in by_op.get("add_field", ()):
            tie(change, types.get(field_path(split_path(change.field or "")[:-1])))


def _columns_of(*values: Any) -> list[str]:
    columns: list[str] = []
    for value in values:
        if isinstance(value, Mapping):
            columns += value.get("columns") or ()
            columns += value.get("on_delete_columns") or ()
        elif isinstance(value, list):
            columns += value
    return [*columns, *(field_path((column,)) for column in columns)]


def _texts(change: Change) -> list[str]:
    if change.op == "change_generated":
        return [value["expression"] for value in (change.before,) if value and value.get("expression")]
    if change.op == "drop_unique":
        texts = [change.before.get("predicate"), *(change.before.get("expressions") or ())]
        return [str(text) for text in texts if text]
    return []
