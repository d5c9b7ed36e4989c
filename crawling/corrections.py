"""People's words on renames, carried over: what a crawl finds follows them while both ends are still there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawling import diff
from crawling.diff import Change, Context, DatasetDiff
from registry.documents import field_path, split_path
from registry.typesystem import Catalogue


@dataclass(frozen=True)
class Word:
    """One person's word: `field` of `dataset` (empty: the dataset) and `new` are one renamed, or they are two."""

    key: int
    dataset: str
    field: str
    new: str
    is_same: bool
    person: int


@dataclass
class Corrected:
    """The differences as people want them, who is behind which change, and the words that met nothing."""

    diffs: list[DatasetDiff]
    people: dict[tuple[str, str], int] = field(default_factory=dict)
    unused: list[int] = field(default_factory=list)


def correct(
    diffs: Iterable[DatasetDiff],
    words: Sequence[Word],
    *,
    catalogue: Catalogue | None,
    context: Context,
) -> Corrected:
    """Differences split and paired as people said before."""
    out = Corrected(list(diffs))
    for word in words:
        before = {(each.name, change.fingerprint) for each in out.diffs for change in each.changes}
        by_name = _of_dataset if not word.field else _of_field
        if not by_name(out, word, catalogue, context):
            out.unused.append(word.key)
            continue
        for each in out.diffs:
            for change in each.changes:
                if (each.name, change.fingerprint) not in before:
                    out.people[each.name, change.fingerprint] = word.person
    out.diffs.sort(key=lambda each: each.name)
    return out


def _of_dataset(out: Corrected, word: Word, catalogue: Catalogue | None, context: Context) -> bool:
    """Split or pair whole datasets; False where the word's two ends are not both there."""
    olds = [each for each in out.diffs if each.before_name == word.dataset]
    news = [each for each in out.diffs if each.after_name == word.new and each.before_name != word.new]
    old, new = next(iter(olds), None), next(iter(news), None)
    if old is None or new is None or old.after_name == word.dataset:
        return False
    if (old is new) == word.is_same:
        return True
    for each in {id(old): old, id(new): new}.values():
        out.diffs.remove(each)
        if each.before_name and each.after_name:
            out.diffs += diff.split_datasets(each, catalogue=catalogue, context=context)
        else:
            out.diffs.append(each)
    if word.is_same:
        gone = next(each for each in out.diffs if each.name == word.dataset and each.after is None)
        come = next(each for each in out.diffs if each.after_name == word.new and each.before is None)
        out.diffs.remove(gone)
        out.diffs.remove(come)
        out.diffs.append(diff.pair_datasets(gone, come, catalogue=catalogue, context=context))
    return True


def _of_field(out: Corrected, word: Word, catalogue: Catalogue | None, context: Context) -> bool:
    place = next((n for n, each in enumerate(out.diffs) if each.before_name == word.dataset), None)
    each = out.diffs[place] if place is not None else None
    if place is None or each is None or each.before is None or each.after is None:
        return False
    pairs = renames_of(each.changes)
    wanted = with_pair(pairs, word.field, word.new) if word.is_same else without_pair(pairs, word.field)
    gone, come = ends_of(each.changes)
    if word.field not in gone or beside(word.field, word.new) not in come:
        return False
    if pairs.get(word.field) != word.new and not word.is_same:
        return True
    if wanted != pairs:
        out.diffs[place] = DatasetDiff(
            each.before_name,
            each.after_name,
            each.before,
            each.after,
            again(
                each.changes,
                wanted,
                before=each.before,
                after=each.after,
                catalogue=catalogue,
                context=context,
            ),
        )
    return True


def again(
    changes: Sequence[Change],
    renames: Mapping[str, str],
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    catalogue: Catalogue | None,
    context: Context,
) -> tuple[Change, ...]:
    """All changes of a dataset anew, with these fields renamed and no others."""
    moved = next((c.after for c in changes if c.op in ("rename_dataset", "move_dataset")), None)
    name = changes[0].dataset
    return diff.diff(
        before, after, catalogue=catalogue, context=context, dataset=name, renames=renames,
        renamed_to=moved or name,
    )  # fmt: skip


def renames_of(changes: Iterable[Change]) -> dict[str, str]:
    """Old path → new name."""
    return {c.field: str(c.after) for c in changes if c.op == "rename_field" and c.field is not None}


def without_pair(renames: Mapping[str, str], old: str) -> dict[str, str]:
    return {path: new for path, new in renames.items() if path != old}


def with_pair(renames: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """With this pair, and without those that hold one of its ends."""
    kept = {
        path: name for path, name in renames.items() if path != old and beside(path, name) != beside(old, new)
    }
    return {**kept, old: new}


def ends_of(changes: Iterable[Change]) -> tuple[set[str], set[str]]:
    """The paths that are gone and those that are new, renamed or not."""
    gone, come = set(), set()
    for change in changes:
        path = change.field or ""
        if change.op in ("drop_field", "rename_field"):
            gone.add(path)
        if change.op == "add_field":
            come.add(path)
        elif change.op == "rename_field":
            come.add(beside(path, str(change.after)))
    return gone, come


def beside(path: str, name: str) -> str:
    """The path of that name at the same level."""
    return field_path([*split_path(path)[:-1], name])
