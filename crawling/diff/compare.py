"""What differs between the registry and a snapshot: every dataset of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crawling.diff.changes import NO_CONTEXT, Context, DatasetDiff
from crawling.diff.datasets import find_dataset_renames, partition_mentions
from crawling.diff.one import Follows, diff
from registry.documents import split_path
from registry.typesystem import Catalogue


def compare(
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    *,
    catalogue: Catalogue | None,
    covered: Callable[[str], bool],
    context: Context = NO_CONTEXT,
) -> tuple[DatasetDiff, ...]:
    """One entry for each dataset that differs, by name; unchanged ones are left out.

    `covered` says whether a name of the registry was really looked at: only such a dataset can be gone: dropped,
    renamed or moved.
    """
    gone = {name: doc for name, doc in before.items() if name not in after and covered(name)}
    new = {name: doc for name, doc in after.items() if name not in before}
    stays = [
        (name, before[name], doc)
        for name, doc in after.items()
        if name in before and before[name] is not doc and before[name] != doc
    ]
    if not gone and not new and not stays:
        return ()
    found = find_dataset_renames(gone, new, catalogue=catalogue, staying=_staying(before, after))
    out: list[DatasetDiff] = []
    tables: dict[tuple[Any, Any], tuple[Any, Any]] = {}
    for old, (name, evidence) in found.sure.items():
        was, now = gone.pop(old), new.pop(name)
        changes = diff(
            was, now, catalogue=catalogue, context=context, dataset=old, renamed_to=name, evidence=evidence
        )
        out.append(DatasetDiff(old, name, was, now, changes))
        tables[_place(was)] = _place(now)
    partitioned = partition_mentions(gone, after)
    for name, doc in gone.items():
        mention = (*found.possible.get(name, ()), *partitioned.get(name, ()))
        changes = diff(doc, None, catalogue=catalogue, context=context, dataset=name, evidence=mention)
        out.append(DatasetDiff(name, None, doc, None, changes))
    for name, doc in new.items():
        mention = found.possible.get(name, ())
        changes = diff(None, doc, catalogue=catalogue, context=context, dataset=name, evidence=mention)
        out.append(DatasetDiff(None, name, None, doc, changes))
    out += _stayed(stays, out, tables, catalogue=catalogue, context=context)
    return tuple(sorted(out, key=lambda each: each.name))


def _staying(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """The datasets on both sides, as they were and as they are."""
    for name, doc in after.items():
        was = before.get(name)
        if was is not None:
            yield doc
            if was is not doc:
                yield was


def _stayed(
    stays: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]],
    renamed: list[DatasetDiff],
    tables: Mapping[tuple[Any, Any], tuple[Any, Any]],
    *,
    catalogue: Catalogue | None,
    context: Context,
) -> list[DatasetDiff]:
    """Datasets on both sides; foreign keys that only follow a rename elsewhere are rated as such."""
    out = []
    for name, was, now in stays:
        changes = diff(was, now, catalogue=catalogue, context=context, dataset=name, renamed_to=name)
        if changes:
            out.append(DatasetDiff(name, name, was, now, changes))
    columns = {
        _place(each.after or {}): names for each in (*renamed, *out) if (names := _renamed_columns(each))
    }
    if not tables and not columns:
        return out
    follows = Follows(tables, columns)
    return [
        each
        if not any(c.op == "change_foreign_key" for c in each.changes)
        else _again(each, follows, catalogue, context)
        for each in out
    ]


def _again(each: DatasetDiff, follows: Follows, catalogue: Catalogue | None, context: Context) -> DatasetDiff:
    changes = diff(
        each.before, each.after, catalogue=catalogue, context=context, dataset=each.name, renamed_to=each.name,
        follows=follows,
    )  # fmt: skip
    return DatasetDiff(each.before_name, each.after_name, each.before, each.after, changes)


def _renamed_columns(each: DatasetDiff) -> dict[str, str]:
    return {
        change.before: change.after
        for change in each.changes
        if change.op == "rename_field" and len(split_path(change.field or "")) == 1
    }


def _place(document: Mapping[str, Any]) -> tuple[Any, Any]:
    return document.get("schema"), document.get("name")
